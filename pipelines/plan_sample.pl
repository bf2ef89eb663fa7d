#!/usr/bin/perl
# plan_sample.pl - a sample of a corpus from many places of it, for plan
#
#     plan_sample.pl DIR KIND BYTES FILE...
#
# Takes about BYTES, in blocks from places spread evenly over the FILEs, puts them into an order decided by chance, and writes
# them to DIR/part.0, DIR/part.1 and so on: part 0 is a hundredth of all, parts 0 and 1 two hundredths, then five, ten, twenty,
# fifty, and all. So each size is a sample of the whole, and contains the smaller ones. Blocks begin and end where lines do,
# documents that NUL ends, or records of WET (KIND: text, line, nul, wet). The same files give the same sample.
#
# What is compressed, and standard input (-), can be read from its beginning only: of up to 64 files the first part.
#
# Prints: "whole BYTES", the text of all FILEs as far as can be told (0: not known); "places N", where the sample is from; and
# "first N", how many files were read from their beginning only.
# Exit status: 65 too little text, or a FILE that cannot be decompressed, 66 one that is not there, 74 one that cannot be read, or DIR written.
use strict;
use warnings;
use POSIX qw(_exit);

use constant {
    BLOCKS => 2048,       # in a sample,
    LEAST  => 8 << 10,    # of at least so many bytes
    LOOK   => 64 << 10,   # bytes after a block in which the end of a line is looked for first,
    FAR    => 16 << 20,   # and if there is none
    FILES  => 64,         # compressed files that are read
    EXPAND => 2.5,        # text from a compressed byte, about
    TOO_FEW => 1_000_000, # bytes in which a law would be chance
    SIZES  => [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
};

my ($dir, $kind, $most, @files) = @ARGV;

# What is between two documents or lines, and how much of it belongs to the first of them.
my ($mark, $ended) = @{ { nul => ["\0", 1], wet => ["\r\n\r\nWARC/", 4] }->{$kind} // ["\n", 1] };
my $state = 1;

sub fail {
    my ($status, $message) = @_;
    print STDERR "bpe plan: $message\n";
    _exit($status); # without a second attempt to write what could not be written
}

# A whole number from 0 to $n; the same ones each time.
sub by_chance {
    my ($n) = @_;
    $state = ($state * 1103515245 + 12345) % 2147483648;
    return int($state / 2147483648 * ($n + 1));
}

sub open_file {
    my ($name) = @_;
    open my $in, '<:raw', $name or fail(66, "$name: cannot open: $!");
    return $in;
}

# The size of blocks in so many bytes, or in a sample of them.
sub block_of {
    my ($n) = @_;
    my $block = int(($n < $most ? $n : $most) / BLOCKS);
    return $block > LEAST ? $block : LEAST;
}

# From $at on, the first place where a block may begin or end; none: -1.
sub border {
    my ($text, $at) = @_;
    my $found = index $text, $mark, $at < $ended ? 0 : $at - $ended;
    return $found + $ended if $found >= 0;
    return -1 if $kind ne 'text';
    pos($text) = $at;
    return $text =~ /\G[\x80-\xBF]+/g ? pos $text : $at;
}

# Whole lines or documents of a text, from about $at to $to; to its end if $to is there.
sub between {
    my ($text, $at, $to) = @_;
    my $begin = $at ? border($text, $at) : 0;
    my $end   = $to < length $text ? border($text, $to) : length $text;
    $end = rindex($text, $mark) + $ended if $end < 0;
    return '' if $begin < 0 || $end <= $begin;
    my $part = substr $text, $begin, $end - $begin;
    $part .= "\n" if $kind ne 'nul' && substr($part, -1) ne "\n"; # the next one is another text
    return $part;
}

sub cut {
    my ($text, $block) = @_;
    return map { between($text, $_ * $block, ($_ + 1) * $block) } 0 .. int(length($text) / $block);
}

# ---- Plain files: places in all of them, one after the other ----

sub file_part {
    my ($name, $from, $to) = @_;
    my $in   = open_file($name);
    my $base = $from > $ended ? $from - $ended : 0;
    my $text = '';
    seek $in, $base, 0 or fail(74, "$name: cannot read: $!");
    for my $more (LOOK, FAR) {
        defined read $in, $text, $to + $more - $base - length $text, length $text or fail(74, "$name: cannot read: $!");
        last if index($text, $mark, $to - $base) >= 0;
    }
    return between($text, $from - $base, $to - $base);
}

# A block from each of as many parts of the whole as the sample has blocks; all of it if it is hardly larger.
sub plain_blocks {
    my @names = @_;
    my ($total, $before, $file, @blocks) = (0, 0, 0);
    my @length = map { -s $_ } @names;
    $total += $_ for @length;
    my $block = block_of($total);
    my $all   = $total <= 1.25 * $most;
    my $n     = $all ? int($total / $block) + 1 : int($most / $block) + 1;
    my $step  = $total / $n;
    my $room  = $all ? 0 : $step - $block;
    for my $i (0 .. $n - 1) {
        my $from = int($i * $step) + by_chance($room);
        my $to   = $room ? $from + $block : int(($i + 1) * $step);
        my $text = '';
        while ($file < @names) {
            my $end = $before + $length[$file];
            $text .= file_part($names[$file], ($from > $before ? $from : $before) - $before, ($to < $end ? $to : $end) - $before)
                if $from < $end && $to > $before;
            last if $to <= $end;
            $before = $end;
            $file++;
        }
        push @blocks, $text;
    }
    return ($total, @blocks);
}

# ---- What is read from its beginning ----

# The program by which a file was compressed; nothing if it is as it is.
sub compressed_by {
    my ($name) = @_;
    my $in = open_file($name);
    read $in, my $head, 4;
    return 'zstd' if $head =~ /^(?:\x28\xB5\x2F\xFD|[\x50-\x5F]\x2A\x4D\x18)/;
    return $head =~ /^\x1F\x8B/ ? 'gzip' : '';
}

# The text of the first bytes of a compressed file, and how many these are.
sub first_text {
    my ($name, $by, $share) = @_;
    my $take = int($share / EXPAND) + 1;
    $take = -s $name if $take > -s $name;
    my $command = 'head -c "$1" -- "$2" | "$3" -dcq 2>/dev/null
        for code in "${PIPESTATUS[@]}"; do ((code <= 128 || code == 141)) || exit 75; done';
    open my $in, '-|:raw', 'bash', '-c', $command, 'plan', $take, $name, $by or fail(71, "cannot start a process: $!");
    my $text = do { local $/; <$in> } // '';
    close $in or fail(75, 'a process was killed; run the same command again');
    fail(65, "$name: cannot be decompressed; is $by installed?") if !length $text;
    return ($text, $take);
}

sub compressed_blocks {
    my ($by) = @_;
    my @all  = sort keys %$by;
    my @some = @all <= FILES ? @all : map { $all[$_ * @all / FILES] } 0 .. FILES - 1;
    my ($total, $of_text, $of_file, @blocks) = (0, 0, 0);
    $total += -s $_ for @all;
    for my $name (@some) {
        my ($text, $took) = first_text($name, $by->{$name}, $most / @some);
        $of_text += length $text;
        $of_file += $took;
        my $part = cut_end($text, $took == -s $name);
        push @blocks, cut($part, block_of($total));
    }
    return (int($total * $of_text / $of_file), @blocks);
}

# Without what is not complete at its end.
sub cut_end {
    my ($text, $all) = @_;
    my $last = rindex $text, $mark;
    return $all || $last < 0 ? $text : substr $text, 0, $last + $ended;
}

sub pipe_blocks {
    my ($in, $name) = @_;
    my ($text, $n) = ('', 1);
    while ($n && length $text < $most) {
        $n = read $in, $text, 1 << 20, length $text;
        fail(74, "$name: cannot read: $!") if !defined $n;
    }
    return ($n ? 0 : length $text, cut(cut_end($text, !$n), block_of(length $text)));
}

# ---- All ----

sub put_parts {
    my @blocks = @_;
    for my $i (reverse 1 .. $#blocks) {
        my $j = by_chance($i);
        @blocks[$i, $j] = @blocks[$j, $i];
    }
    my ($all, $written, $i) = (0, 0, 0);
    $all += length $_ for @blocks;
    fail(65, "the text has $all bytes, too few to say more of; " . TOO_FEW . " are the least") if $all < TOO_FEW;
    for my $part (@{ +SIZES }) {
        open my $out, '>:raw', "$dir/part.$i" or fail(74, "$dir: cannot store a sample there: $!; TMPDIR names another directory");
        my $begin = $written;
        while (@blocks && ($part == 1 || $written == $begin || $written + length($blocks[0]) / 2 < $part * $all)) {
            $written += length $blocks[0];
            print $out shift @blocks or fail(74, "$dir: cannot store a sample there: $!; TMPDIR names another directory");
        }
        close $out or fail(74, "$dir: cannot store a sample there: $!; TMPDIR names another directory");
        $i++;
    }
}

my (%compressed, @plain, @blocks, $known);
my ($whole, $first) = (0, 0);
for my $name (@files) {
    fail(66, "$name: is a directory") if -d $name;
    if ($name eq '-' || -p $name || -c $name) {
        my ($size, @more) = pipe_blocks($name eq '-' ? \*STDIN : open_file($name), $name);
        push @blocks, @more;
        $known //= $size;
        $known *= !!$size;
        $whole += $size;
        $first++;
    } elsif (my $by = compressed_by($name)) {
        $compressed{$name} = $by;
    } else {
        push @plain, $name;
    }
}
if (@plain) {
    my ($size, @more) = plain_blocks(@plain);
    push @blocks, @more;
    $whole += $size;
}
if (%compressed) {
    my ($size, @more) = compressed_blocks(\%compressed);
    push @blocks, @more;
    $whole += $size;
    $first += keys %compressed;
}
@blocks = grep { length } @blocks;
printf "whole %d\nplaces %d\nfirst %d\n", $known // 1 ? $whole : 0, scalar @blocks, $first;
put_parts(@blocks);
