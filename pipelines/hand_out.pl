#!/usr/bin/perl
# hand_out.pl - gives the records of bpe-chunk, on standard input, to several processes, which all write to standard output
#
#     hand_out.pl JOBS COMMAND [ARGUMENT]...
#
# Records of text go in small units to the process that has room in its pipe. A record that only says where text is, is
# much work: a process gets one when it has nothing else to do, so all end at about the same time, and work is begun in
# the order of the text. A process has nothing to do when it has read the byte 0xFF that alone is in its pipe: the next
# record begins with it. If there is no next record, its last one is repeated, which the programs notice and do not do
# again.
#
# A process that dies leaves its records undone, which the reader of the output notices; the others go on.
#
# The exit status is that of the first process that failed, 128 plus the number of the signal if it was killed.
use strict;
use warnings;
use Errno qw(EINTR);
use Fcntl qw(F_GETFL F_SETFL O_NONBLOCK);

BEGIN {
    (my $file = $0) =~ s/[^\/]*$/records.pl/;
    require($file =~ /^\// ? $file : "./$file");
}

use constant {
    UNIT   => 128 << 10,  # records of text of at least this are given at a time
    PIPE   => 1031,       # F_SETPIPE_SZ, and sizes: one page holds the byte that is sent ahead, and nothing more
    PAGE   => 4096,
    ROOM   => 1 << 20,
};

my ($jobs, @command) = @ARGV;
my @workers;

sub fail {
    print STDERR "bpe: $_[0]\n";
    kill 'TERM', map { $_->{pid} } @workers;
    exit 74;
}

# ---- Records ----

our ($data, $more);

# The next whole records: { data, work (whether it only says where text is) }; undef if more must be read. At the end of
# the input what is no whole record is left out: bpe-chunk was killed.
sub take_unit {
    my ($at, $work) = (0, 0);
    while ($at < UNIT && !$work and my ($n, $type) = record_at($at)) {
        my $alone = $type eq 'R';
        last if $at && $alone;
        $at += $n;
        $work = $alone;
    }
    return $at ? { data => substr($data, 0, $at, ''), work => $work } : undef;
}

# ---- Processes ----

# Each has: pid; to, the pipe to it (undef: it gets no more); left, what could not be written into it yet; size, of the
# pipe; ahead, whether the first byte of the next record was sent; free, whether it has nothing to do; last, the unit
# that it has.

sub start {
    pipe my $in, my $to or fail("cannot make a pipe: $!");
    my $pid = fork // fail("cannot start a process: $!");
    if (!$pid) {
        $SIG{$_} = 'DEFAULT' for qw(PIPE TERM);
        open STDIN, '<&', $in or exit 71;
        exec { $command[0] } @command or exit 127;
    }
    fcntl $to, F_SETFL, O_NONBLOCK | fcntl($to, F_GETFL, 0);
    return { pid => $pid, to => $to, left => '', size => 0, ahead => 0, free => 1, last => '' };
}

# Whether its pipe has the size, or gets it: it gets smaller only when it is empty, or nearly.
sub resize {
    my ($worker, $size) = @_;
    $worker->{size} = $size if $worker->{size} != $size && fcntl $worker->{to}, PIPE, $size;
    return $worker->{size} == $size;
}

# The process that can take the unit and has waited for longest.
sub taker {
    my ($unit) = @_;
    my @open = grep { $_->{to} && !length $_->{left} } @workers;
    return (grep { $_->{free} } @open)[0] if $unit->{work};
    return $open[0];
}

sub give {
    my ($worker, $unit) = @_;
    resize($worker, $unit->{work} ? PAGE : ROOM);
    $worker->{last} = $unit->{data};
    $worker->{left} = $worker->{ahead} ? substr $unit->{data}, 1 : $unit->{data};
    @$worker{qw(ahead free)} = (0, 0);
    @workers = ((grep { $_ != $worker } @workers), $worker);
    feed($worker);
}

# Its pipe is empty: then it has begun its last record, or, if that was so already, ended it.
sub emptied {
    my ($worker) = @_;
    if ($worker->{ahead}) {
        $worker->{free} = 1;
    } else {
        @$worker{qw(left ahead)} = ("\xFF", 1);
        feed($worker);
    }
}

# It gets no more.
sub finish {
    my ($worker) = @_;
    if ($worker->{ahead}) {
        @$worker{qw(left ahead)} = (substr($worker->{last}, 1), 0);
        feed($worker);
    }
    $worker->{to} = undef if !length $worker->{left};
}

# ---- All ----

sub end_all { # STATUS
    kill 'TERM', map { $_->{pid} } @workers;
    exit $_[0];
}

# Waits until something can be read or written, and does that. $work: the next unit waits for a process that is free.
sub move {
    my ($hungry, $work) = @_;
    my ($in, $out) = ('', '');
    vec($in, 0, 1) = 1 if $hungry;
    my @full  = grep { $_->{to} && length $_->{left} } @workers;
    my @busy  = $work ? grep { $_->{to} && !length $_->{left} && !$_->{free} } @workers : ();
    my @asked = grep { resize($_, PAGE) } @busy;
    vec($out, fileno $_->{to}, 1) = 1 for @full, @asked;
    return if select($in, $out, undef, @asked < @busy ? 0.05 : undef) < 0;
    read_more() if vec $in, 0, 1;
    my @ready = grep { vec $out, fileno $_->{to}, 1 } @full, @asked;
    length $_->{left} ? feed($_) : emptied($_) for @ready;
}

sub hand_out {
    my $unit;
    while (grep { $_->{to} } @workers) { # without any, nothing is left to do
        while ($unit //= take_unit() and my $worker = taker($unit)) {
            give($worker, $unit);
            undef $unit;
        }
        my $ended = !$unit && !$more;
        finish($_) for grep { $_->{to} && $ended && !length $_->{left} } @workers;
        move(!$unit && $more, $unit && $unit->{work}) if grep { $_->{to} } @workers;
    }
}

$SIG{PIPE} = 'IGNORE';
$SIG{TERM} = sub { end_all(143) };
fcntl STDIN, PIPE, ROOM; # if it is a pipe
push @workers, start() for 1 .. $jobs;
hand_out();
close STDIN;
my $code = 0;
for my $worker (@workers) {
    waitpid $worker->{pid}, 0;
    $code ||= $? & 127 ? 128 + ($? & 127) : $? >> 8;
}
exit $code;
