#!/usr/bin/perl
# plan_measure.pl - what the programs take for the sample of plan_sample.pl, for plan
#
#     plan_measure.pl DIR VOCABULARY [OPTION]...
#
# Counts DIR/part.0, part.1 and so on, adds them up one after the other, learns and encodes; OPTIONs are bpe-chunk's. Seconds are
# CPU time without that of starting a program, the least of several times: the machine may be busy. Bytes of memory are the most that a process had.
#
# Prints lines of names and numbers for plan_model.pl:
#
#     point BYTES DISTINCT SUM         the first parts together: their text, distinct pretokens, bytes of the sum
#     count BYTES RECORDS SECONDS MEMORY   a part: its text, its distinct pretokens
#     add RECORDS DISTINCT SECONDS MEMORY  bpe-sum: distinct pretokens of all its inputs, and of its output
#     spill RECORDS SECONDS            the same with so little memory that all goes to disk
#     sums RECORDS SECONDS             bpe-sum of two sums in files
#     merge DISTINCT SECONDS MEMORY    bpe-merge
#     encode BYTES SECONDS MEMORY IDS  bpe-encode, by the model of the whole sample
#     often N DISTINCT                 pretokens that occur N times or more
#     compressed BYTES BYTES           counts, before and after zstd -3; not if zstd is not installed
#
# Exit status: that of the program that failed, which has said why.
use strict;
use warnings;
use POSIX qw(uname);

use constant {
    ROUNDS => 3,
    ENOUGH => 0.2, # seconds that are worth no second round
};

# getrusage(2) by its number: perl's own times() counts hundredths of a second, and no memory. Elsewhere there are no figures of
# memory.
use constant GETRUSAGE => { x86_64 => 98, aarch64 => 165, riscv64 => 165, ppc64le => 77, s390x => 77 }->{ (uname())[4] };
use constant CHILDREN => -1;

my ($dir, $vocabulary, @options) = @ARGV;

sub fail {
    my ($status, $message) = @_;
    print STDERR "bpe plan: $message\n";
    exit $status;
}

# Seconds and memory of the processes that were waited for.
sub used {
    my @times = times;
    return ($times[2] + $times[3], 0) if !defined GETRUSAGE;
    my $usage = "\0" x 144;
    syscall(GETRUSAGE, CHILDREN, $usage) == 0 or fail(71, "getrusage: $!");
    my @n = unpack 'q5', $usage;
    return ($n[0] + $n[2] + ($n[1] + $n[3]) / 1e6, $n[4] * 1024);
}

sub killed {
    fail(75, 'a process was killed; run the same command again');
}

# Runs a command, OUT its output: (seconds, memory). In a process of its own, as memory is the most of all that were waited for.
# Of what it says, errors alone are passed on.
sub run {
    my ($out, @command) = @_;
    pipe my $from, my $to  or fail(71, "cannot make a pipe: $!");
    pipe my $said, my $err or fail(71, "cannot make a pipe: $!");
    my $pid = fork // fail(71, "cannot start a process: $!");
    if (!$pid) {
        open STDERR, '>&', $err or exit 71;
        my $status = 74;
        if (open STDOUT, '>', $out) {
            $status = system { $command[0] } @command;
            $status = $status == -1 ? 127 : $status & 127 ? 75 : $status >> 8;
        } else {
            print STDERR "standard output: cannot write: $!\n";
        }
        syswrite $to, join ' ', $status, used();
        exit 0;
    }
    close $_ for $to, $err;
    my ($status, @used) = split ' ', <$from> // '75 0 0';
    my $text = join '', <$said>;
    waitpid $pid, 0;
    return @used if !$status;
    killed() if $status == 75;
    fail(74, "$out: cannot write: $1; TMPDIR names another directory") if $text =~ /standard output: cannot write: (.*)/;
    print STDERR $text;
    exit $status;
}

# The run that took least.
my $start = 0;

sub least {
    my (@best, $rounds);
    while (!@best || $best[0] < ENOUGH && $rounds < ROUNDS) {
        my @used = run(@_);
        @best = @used if !@best || $used[0] < $best[0];
        $rounds++;
    }
    $best[0] = $best[0] > $start ? $best[0] - $start : 0;
    return @best;
}

# What a command of the shell prints, for a file.
sub said {
    my ($command, $file) = @_;
    my $status = 'for code in "${PIPESTATUS[@]}"; do case $code in 0) ;; 141) cut=75 ;;
        *) exit $((code > 128 ? 75 : code)) ;; esac; done; exit $((cut))';
    open my $from, '-|', 'bash', '-c', "$command; $status", 'plan', $file or fail(71, "cannot start a process: $!");
    my @lines = <$from>;
    close $from and return @lines;
    killed() if $? & 127 || $? >> 8 == 75;
    exit $? >> 8 if $? >> 8 >= 64; # it has said why
    fail(74, 'a process failed, as it says; if there is no room for its files, TMPDIR names another directory');
}

# Distinct pretokens of counts. Each is a line, and more if it is long, but only the first begins with a digit.
sub distinct {
    my ($n) = said('bpe-view "$1" | sed -n "/^[0-9]/p" | wc -l', $_[0]);
    return $n + 0;
}

# How many of the pretokens of a sum occur as often as each of some numbers.
sub often {
    my ($sum, @least) = @_;
    my %times = map { reverse split } said('bpe-view "$1" | cut -s -f 1 | sed -n "/^[0-9]/p" | sort | uniq -c', $sum);
    return map { my $k = $_; my $all = 0; $all += $times{$_} for grep { $_ >= $k } keys %times; $all } @least;
}

sub say_it {
    print join(' ', @_), "\n";
}

$| = 1;
($start) = least('/dev/null', 'bpe-count', '/dev/null');
my (@counts, @point);
my ($records, $last) = (0, 0);
$last++ while -e "$dir/part." . ($last + 1);
for my $i (0 .. $last) {
    run("$dir/chunks", 'bpe-chunk', @options, '--', "$dir/part.$i");
    my @used = least("$dir/counts.$i", 'bpe-count', "$dir/chunks");
    my $n = distinct("$dir/counts.$i");
    say_it('count', -s "$dir/part.$i", $n, @used);
    push @counts, "$dir/counts.$i";
    $records += $n;
    @used = least("$dir/sum", 'bpe-sum', @counts);
    push @point, [($i ? $point[-1][0] : 0) + -s "$dir/part.$i", distinct("$dir/sum"), -s "$dir/sum"];
    say_it('point', @{ $point[-1] });
    say_it('add', $records, $point[-1][1], @used);
    say_it('merge', $point[-1][1], least('/dev/null', 'bpe-merge', '-v', $vocabulary, "$dir/sum")) if $i > $last - 3;
}
my @least = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000);
my @often = often("$dir/sum", @least);
say_it('often', $least[$_], $often[$_]) for 0 .. $#least;

my @used = least("$dir/sum.again", 'bpe-sum', '-S', '8M', @counts);
say_it('spill', $records, $used[0]);
my $in_sums = 0;
for my $i (0, 1) { # every second part
    run("$dir/sum.$i", 'bpe-sum', '--partial', '-q', @counts[grep { $_ % 2 == $i } 0 .. $last]);
    $in_sums += distinct("$dir/sum.$i");
}
@used = least("$dir/sum.again", 'bpe-sum', "$dir/sum.0", "$dir/sum.1");
say_it('sums', $in_sums, $used[0]);
run("$dir/model", 'bpe-merge', '-v', $vocabulary, "$dir/sum");
my @read = grep { !/^--(?:pattern|regex|special-token|no-special)\b/ } @options; # the model knows these
run("$dir/chunks", 'bpe-chunk', '-m', "$dir/model", @read, '--', "$dir/part.$last");
@used = least("$dir/ids", 'bpe-encode', '-m', "$dir/model", '-f', 'raw', "$dir/chunks");
say_it('encode', -s "$dir/part.$last", @used, (-s "$dir/ids") / ($vocabulary > 65536 ? 4 : 2));
my $has_zstd = system 'command -v zstd >/dev/null';
killed() if $has_zstd & 127;
if ($has_zstd == 0) {
    run("$dir/counts.zst", 'zstd', '-3qc', $counts[-1]);
    say_it('compressed', -s $counts[-1], -s "$dir/counts.zst");
}
