# bpe.fish - completion for bpe and the programs bpe-*, in fish. The candidates come from `bpe complete`.

# Files that begin with a value: directories and files that match the patterns, or all files if none matches.
function __bpe_files
    set -l paths (__fish_complete_path $argv[1] | string split -f 1 \t)
    set -l kind
    for pattern in $argv[2..-1]
        set kind $kind (string match -- $pattern $paths)
    end
    if set -q kind[1]
        printf '%s\n' (string match -- '*/' $paths) $kind
    else
        printf '%s\n' $paths
    end
end

function __bpe_complete
    set -l current (commandline -ct)
    set -l prefix
    set -l value $current
    if string match -q -- '--*=*' $current
        set prefix (string split -m 1 = -- $current)[1]=
        set value (string split -m 1 = -- $current)[2]
    end
    for line in (command bpe complete (commandline -opc) "$current" 2>/dev/null)
        switch $line
            case ':files*'
                printf "$prefix%s\n" (__bpe_files "$value" (string split -n ' ' -- $line)[2..-1])
            case ':directories'
                printf "$prefix%s\n" (__fish_complete_directories "$value" | string split -f 1 \t)
            case ':commands'
                printf "$prefix%s\n" (__fish_complete_command | string split -f 1 \t)
            case '*'
                printf '%s\n' $line
        end
    end
end

for name in bpe bpe-{chunk,count,sum,merge,encode,decode,shard,model,view}
    complete -c $name -f -k -a '(__bpe_complete)'
end
