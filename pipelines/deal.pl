#!/usr/bin/perl
# deal.pl - gives the records of bpe-chunk, on standard input, to several processes; for train and encode
#
#     deal.pl DIR JOBS COMMAND [ARGUMENT]...    text in records: to JOBS processes of COMMAND, each with a pipe
#     deal.pl DIR JOBS                          text in records: into files, in order
#
# What bpe-chunk writes decides what is done, not what the inputs look like from outside. While records only say where
# the text is, they go to DIR/chunks, and at the end that is all: they are few and small, and the caller divides them.
# With the first record that holds text, dealing begins. The caller learns which it is from standard output: the line
# `reference` at the end of the records, or `value` at once.
#
# To processes: each gets whole records whenever there is room in its pipe, so a process that is slower gets fewer. They
# write to DIR/counts, a named pipe. A process that dies leaves its records uncounted, which bpe-sum notices.
#
# Into files: DIR/part.N, whose name is printed when it is complete. A byte in DIR/taken, a named pipe, says that a part
# is done with: no more than JOBS + 2 of them are there at a time.
#
# (GNU parallel --pipe copies 0.4 GB/s and starts a process for each block. split -n r/N waits for the process whose
# turn it is.)
use strict;
use warnings;
use Errno qw(EINTR EAGAIN EPIPE);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);

use constant {
    HEADER    => 27,         # of a record: bpe-records(5)
    READ      => 1 << 20,
    PIPE      => 1031,       # F_SETPIPE_SZ
    PART      => 48 << 20,   # text in a part, but for the first ones: a process needs some MB until it is at speed
    FIRST     => 16 << 20,
    MOST      => 128 << 20,
    REFERENCE => 2 << 20,    # records without text in a part
};

my ($dir, $jobs, @command) = @ARGV;
$SIG{PIPE} = 'IGNORE';

sub fail {
    my ($message) = @_;
    print STDERR "bpe: $message\n";
    exit 74;
}

sub say_now {
    my ($line) = @_;
    syswrite STDOUT, "$line\n" or exit; # nobody waits for it any more
}

sub put {
    my ($to, $name, $data) = @_;
    print {$to} $data or fail("$name: cannot write: $!");
}

# ---- Records ----

my ($data, $whole, $value) = ('', 0, 0); # $whole: bytes of $data that are whole records; $value: one of them has text

# read_records FILE: reads more, and sets $whole. Returns whether there is more; at the end all that is left is whole.
sub read_records {
    my ($from) = @_;
    my $n;
    do { $n = sysread $from, $data, READ, length $data } while !defined $n && $!{EINTR};
    fail("cannot read: $!") if !defined $n;
    while (length($data) - $whole >= HEADER && $n) {
        my $len = substr $data, $whole + 3, 8;
        if ($len !~ /^[0-9a-f]{8}$/) { # no record: its reader will say so
            $value = 1;
            $whole = length $data;
            last;
        }
        last if length($data) - $whole < HEADER + 1 + hex $len;
        $value ||= substr($data, $whole + 2, 1) eq 'C';
        $whole += HEADER + 1 + hex $len;
    }
    $whole = length $data if !$n;
    return $n > 0;
}

sub take_whole {
    my $taken = substr $data, 0, $whole, '';
    $whole = 0;
    return $taken;
}

# ---- To processes ----

my @workers; # each: the pipe to it, and what could not be written into it yet

sub start {
    my ($counts) = @_;
    pipe my $in, my $out or fail("cannot make a pipe: $!");
    my $pid = fork // fail("cannot start a process: $!");
    if (!$pid) {
        $SIG{PIPE} = 'DEFAULT';
        open STDIN,  '<&', $in     or exit 71;
        open STDOUT, '>&', $counts or exit 71;
        exec { $command[0] } @command or exit 127;
    }
    fcntl $out, PIPE, READ; # as large as it may be
    fcntl $out, F_SETFL, O_NONBLOCK | fcntl($out, F_GETFL, 0);
    return { to => $out, left => '' };
}

# Writes what goes in. Returns whether the process is there.
sub feed {
    my ($worker) = @_;
    while (length $worker->{left}) {
        my $n = syswrite $worker->{to}, $worker->{left};
        if (defined $n) {
            substr $worker->{left}, 0, $n, '';
        } else {
            return $!{EAGAIN} || $!{EINTR};
        }
    }
    return 1;
}

# Waits until there is room in a pipe. Without processes there is nothing left to do: their end is not ours to explain.
sub feed_all {
    my $ready = '';
    vec($ready, fileno $_->{to}, 1) = 1 for grep { length $_->{left} } @workers;
    select undef, $ready, undef, undef;
    @workers = grep { feed($_) } @workers;
    exit if !@workers;
}

sub deal {
    my ($records) = @_;
    feed_all() while !grep { !length $_->{left} } @workers;
    my ($worker) = grep { !length $_->{left} } @workers;
    @workers = ((grep { $_ != $worker } @workers), $worker);
    $worker->{left} = $records;
    @workers = grep { feed($_) } @workers;
    exit if !@workers;
}

sub start_all {
    open my $counts, '>', "$dir/counts" or fail("$dir/counts: cannot open: $!");
    @workers = map { start($counts) } 1 .. $jobs;
}

sub end_all {
    feed_all() while grep { length $_->{left} } @workers;
    @workers = ();
    1 while wait != -1;
}

# ---- Into files ----

my ($taken, $part, $name, $n_parts, $size, $sum) = (undef, undef, '', 0, 0, 0);

sub start_parts {
    open $taken, '<', "$dir/taken" or fail("$dir/taken: cannot open: $!");
}

sub end_part {
    return if !$part;
    close $part or fail("$name: cannot write: $!");
    undef $part;
    say_now($name);
    $sum += $size;
}

# How much text goes into the next part: the first ones are small, so that all processes start soon.
sub part_size {
    return FIRST if $n_parts <= $jobs;
    my $size = $sum / 8;
    return $size < PART ? PART : $size > MOST ? MOST : $size;
}

sub put_part {
    my ($records) = @_;
    if (!$part) {
        if ($n_parts >= $jobs + 2) {
            sysread $taken, my $byte, 1 or exit;
        }
        $name = sprintf '%s/part.%05d', $dir, $n_parts++;
        $size = 0;
        open $part, '>:raw', $name or fail("$name: cannot create: $!");
    }
    put($part, $name, $records);
    $size += length $records;
    end_part() if $size >= ($value ? part_size() : REFERENCE);
}

# ---- All ----

my $to_parts = !@command;
my $kept = "$dir/chunks";
open my $chunks, '+>:raw', $kept or fail("$kept: cannot create: $!");
fcntl STDIN, PIPE, READ; # if it is a pipe
my $more = 1;
while ($more && !$value) {
    $more = read_records(\*STDIN);
    put($chunks, $kept, take_whole()) if !$value;
}
if (!$value) {
    close $chunks or fail("$kept: cannot write: $!");
    say_now('reference');
    exit;
}
say_now('value');
if ($to_parts) { start_parts() } else { start_all() }

# What came before the first text, and then that and all else.
my @rest = ($data, $whole);
($data, $whole, $value) = ('', 0, 0);
seek $chunks, 0, 0 or fail("$kept: cannot read: $!");
while (read_records($chunks)) {
    if ($to_parts) { put_part(take_whole()) } else { deal(take_whole()) }
}
end_part();
truncate $chunks, 0;
($data, $whole) = @rest;
$value = 1;
while (1) {
    if ($whole) {
        if ($to_parts) { put_part(take_whole()) } else { deal(take_whole()) }
    }
    last if !$more;
    $more = read_records(\*STDIN);
}
if ($to_parts) { end_part() } else { end_all() }
