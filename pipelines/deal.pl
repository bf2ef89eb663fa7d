#!/usr/bin/perl
# deal.pl - gives the records of bpe-chunk, on standard input, to several bpe-encode, and puts their ids into order
#
#     deal.pl encode DIR JOBS COMMAND [ARGUMENT]...   COMMAND is bpe-encode -f framed; ids go to descriptor 3, in order
#     deal.pl look DIR                                only the first line of output, described below
#
# What bpe-chunk writes decides what is done, not what the inputs look like from outside. While records only say where
# the text is, they are kept, and at the end that is all: they are few and small, and go to DIR/chunks, or, to encode, into
# the files DIR/part.00000, ..., each for a process that the caller starts.
# With the first record that holds text, dealing begins. The caller learns which it is from standard output: the line
# `reference` at the end of the records, or `value` at once, and then, when ids are written, the exit status: 76 if the
# last record was cut off, else that of a process that failed, or 74, or 141 if nobody reads the ids any more.
#
# Each of the JOBS processes gets whole records whenever there is room in its pipe, so a process that is slower gets
# fewer.
#
# Ids are written when it is their turn. Until then they are held here, but of no process more than HELD, and no records
# are given that are more than AHEAD of those whose turn it is. Nothing waits in a circle: the process that has these
# has them wholly, or gets them first, and what it writes is always read. If a process fails, the ids before are written,
# and what it said is the only message. If none does, all that they said is printed at the end. It is some lines, and waits in a pipe:
# the disk may be full.
#
# (GNU parallel --pipe copies 0.4 GB/s and starts a process for each block. split -n r/N waits for the process whose
# turn it is.)
use strict;
use warnings;
use Errno qw(EINTR EPIPE);
use Fcntl qw(F_GETFL F_SETFL F_SETFD FD_CLOEXEC O_NONBLOCK);

BEGIN {
    (my $file = $0) =~ s/[^\/]*$/records.pl/;
    require($file =~ /^\// ? $file : "./$file");
}

use constant {
    PIPE   => 1031,          # F_SETPIPE_SZ, and the size
    ROOM   => 1 << 20,
    PART   => 2 << 20,       # bytes of records by reference that make a part
    KEPT   => 16 << 20,      # and that are held here
    UNIT   => 128 << 10,     # records of at least this are given at a time
    QUEUE  => 5,             # units that a process may have and not have finished: about as much as its pipe holds
    AHEAD  => 16,            # units, for each process
    HELD   => 64 << 20,
    FAILED => 0xffffffff,    # instead of the length of a frame: see bpe-encode(1)
};

my ($how, $dir, $jobs, @command) = @ARGV;
my @workers;

sub say_now {
    my ($line) = @_;
    syswrite STDOUT, "$line\n" or exit; # nobody waits for it any more
}

sub end_with { # STATUS
    kill 'TERM', map { $_->{pid} } @workers;
    say_now($_[0]);
    exit $_[0];
}

sub fail {
    my ($message) = @_;
    print STDERR "bpe: $message\n";
    end_with(74);
}

# cannot write|create NAME: a file in DIR, or the ids.
sub cannot {
    my ($what, $name) = @_;
    my $is_temporary = $how eq 'encode' && $name =~ m{^\Q$dir\E/};
    fail("$name: cannot $what: $!" . ($is_temporary ? '; TMPDIR names another directory' : ''));
}

sub write_all { # FILE NAME STRING OFFSET LENGTH
    my ($file, $name, undef, $at, $n) = @_;
    while ($n) {
        my $wrote = syswrite $file, $_[2], $n, $at;
        if (defined $wrote) {
            $at += $wrote;
            $n -= $wrote;
        } elsif (!$!{EINTR}) {
            end_with(141) if $!{EPIPE};
            cannot('write', $name);
        }
    }
}

# ---- Records ----

our ($data, $more);
my $value = 0; # whether a record had text

# The next whole records: { data, n (how many), ids }; undef if more must be read.
sub take_unit {
    my ($at, $records) = (0, 0);
    while ($at < UNIT and my ($n, $type) = record_at($at)) {
        $value ||= $type =~ /[C?]/;
        if ($value && $type =~ /[PF]/) { # has no ids; a failure is also the exit status of bpe-chunk
            substr $data, $at, $n, '';
            next;
        }
        $at += $n;
        $records++;
    }
    return $at ? { data => substr($data, 0, $at, ''), n => $records, ids => '' } : undef;
}

# ---- Processes ----

# Each has: pid; to, the pipe to it (undef: it gets no more); left, what could not be written into it yet; from, the pipe
# from it (undef: it has ended); frames, what came from it and is not whole; owes, the units that it has not finished;
# held, bytes of ids that it wrote and that wait for their turn; said, a pipe with its messages.
my @order; # units whose ids are not all written; each has also: worker, done, failed
my $ids;

sub start {
    pipe my $in,   my $to  or fail("cannot make a pipe: $!");
    pipe my $from, my $out or fail("cannot make a pipe: $!");
    pipe my $said, my $err or fail("cannot make a pipe: $!");
    my $pid = fork // fail("cannot start a process: $!");
    if (!$pid) {
        $SIG{$_} = 'DEFAULT' for qw(PIPE TERM);
        open STDIN,  '<&', $in   or exit 71;
        open STDOUT, '>&', $out  or exit 71;
        open STDERR, '>&', $err  or exit 71;
        exec { $command[0] } @command or exit 127;
    }
    fcntl $_, PIPE, ROOM for $to, $from; # as large as they may be
    fcntl $_, F_SETFL, O_NONBLOCK | fcntl($_, F_GETFL, 0) for $to, $said;
    return { pid => $pid, to => $to, left => '', from => $from, frames => '', owes => [], held => 0, said => $said };
}

sub start_all {
    open $ids, '>&=', 3 or fail("descriptor 3: $!");
    fcntl $ids, F_SETFD, FD_CLOEXEC;
    push @workers, start() for 1 .. $jobs;
}

# The process that has least to do, of those that can take a unit.
sub idle {
    return if @order >= AHEAD * $jobs;
    my ($first, @others) = grep { $_->{to} && !length $_->{left} && @{ $_->{owes} } < QUEUE } @workers;
    for (@others) {
        $first = $_ if @{ $_->{owes} } < @{ $first->{owes} };
    }
    return $first;
}

sub give {
    my ($worker, $unit) = @_;
    $worker->{left} = delete $unit->{data};
    $unit->{worker} = $worker;
    push @{ $worker->{owes} }, $unit;
    push @order, $unit;
    feed($worker);
}

# ---- Ids, in order ----

my $stopped = 0; # a process has failed: no more is given

sub write_ids { # STRING OFFSET LENGTH
    write_all($ids, 'the ids', @_);
}

# A process that failed, or ended too early: its exit status is ours.
sub end_failed {
    my ($worker) = @_;
    @$worker{qw(to left from)} = (undef, '', undef);
    waitpid $worker->{pid}, 0;
    my $code = $? & 127 ? 128 + ($? & 127) : $? >> 8;
    print_said($worker);
    fail("$command[0] ended too early") if !$code;
    end_with($code);
}

sub print_said { # of one that has ended
    my ($worker, $text) = @_;
    print STDERR $text if sysread $worker->{said}, $text, ROOM;
}

sub write_turns {
    while (@order) {
        my $unit = $order[0];
        write_ids($unit->{ids}, 0, length $unit->{ids});
        $unit->{worker}{held} -= length $unit->{ids};
        $unit->{ids} = '';
        end_failed($unit->{worker}) if $unit->{failed};
        return if !$unit->{done};
        shift @order;
    }
}

sub stop_at {
    my ($worker) = @_;
    $worker->{owes}[0]{failed} = $stopped = 1;
    @$worker{qw(to left from)} = (undef, '', undef);
}

# Reads frames, and gives their ids to their units.
sub read_frames {
    my ($worker) = @_;
    my $n = sysread $worker->{from}, $worker->{frames}, READ, length $worker->{frames};
    return if !defined $n && $!{EINTR};
    my $at = 0;
    while (@{ $worker->{owes} } && length($worker->{frames}) - $at >= 4) {
        my ($unit, $size) = ($worker->{owes}[0], unpack 'V', substr $worker->{frames}, $at, 4);
        return stop_at($worker) if $size == FAILED;
        last if length($worker->{frames}) - $at - 4 < $size;
        if ($unit == $order[0] && !length $unit->{ids}) {
            write_ids($worker->{frames}, $at + 4, $size);
        } else {
            $unit->{ids} .= substr $worker->{frames}, $at + 4, $size;
            $worker->{held} += $size;
        }
        $at += 4 + $size;
        if (!$size && --$unit->{n} == 0) {
            $unit->{done} = 1;
            shift @{ $worker->{owes} };
        }
    }
    substr $worker->{frames}, 0, $at, '';
    if (!$n) {
        return stop_at($worker) if @{ $worker->{owes} };
        $worker->{from} = undef;
    }
}

# Whether what it writes is read: always if it has the unit whose turn it is.
sub may_read {
    my ($worker) = @_;
    my $unit = $worker->{owes}[0];
    return $worker->{from} && ($worker->{held} < HELD || $unit && $unit == $order[0]);
}

sub end_workers {
    my $code = 0;
    for my $worker (@workers) {
        waitpid $worker->{pid}, 0;
        $code ||= $? & 127 ? 128 + ($? & 127) : $? >> 8;
        print_said($worker);
    }
    @workers = ();
    end_with($code || (length $data ? 76 : 0)); # what is left is no whole record
}

# ---- Records by reference ----

my @lengths;      # of the records so far
my $chunks;       # DIR/chunks, with all that is not in $data any more
my $kept = 0;     # bytes there

sub keep { # BYTES: of $data
    my ($n) = @_;
    my $name = "$dir/chunks";
    if (!$chunks) {
        open $chunks, '+>:raw', $name or cannot('create', $name);
    }
    write_all($chunks, $name, $data, 0, $n);
    substr $data, 0, $n, '';
    $kept += $n;
}

# Reads what was kept before.
sub get_kept { # OFFSET LENGTH
    my ($at, $n) = @_;
    my $got = '';
    defined sysseek $chunks, $at, 0 or fail("$dir/chunks: cannot read: $!");
    while (length $got < $n) {
        sysread $chunks, $got, $n - length $got, length $got or fail("$dir/chunks: cannot read: $!");
    }
    return $got;
}

# Divides them into parts of the same size: one to four for each job, all jobs the same number. Each process sees all words
# as new, which costs as much as 10 to 20 MB of text, so few large parts are cheaper, and many small ones better balanced:
# four records (half a megabyte each) make a part. A record belongs where its middle is.
sub divide {
    my ($size, $at, $part, $out, $name) = (0, 0, -1);
    $size += $_ for @lengths;
    my $rounds = int((int($size / PART) + $jobs - 1) / $jobs) || 1;
    my $most = $jobs > 1 ? 4 : 1;
    my $parts = $jobs * ($rounds < $most ? $rounds : $most);
    keep(length $data) if $chunks;
    for my $n (@lengths) {
        my $of = int(($at + $n / 2) * $parts / $size);
        if ($of != $part) {
            $part = $of;
            $name = sprintf '%s/part.%05d', $dir, $part;
            open $out, '>:raw', $name or cannot('create', $name);
        }
        if ($chunks) {
            write_all($out, $name, get_kept($at, $n), 0, $n);
        } else {
            write_all($out, $name, $data, $at, $n);
        }
        $at += $n;
    }
    $out and !close $out and cannot('write', $name);
}

# Looks at all records up to the first that holds text, or the last one.
sub look {
    my $at = 0;
    while (1) {
        while (!$value && (my ($n, $type) = record_at($at))) {
            $value = $type =~ /[C?]/;
            push @lengths, $n;
            $at += $n;
        }
        return if $value;
        if (!$more) {
            push @lengths, length($data) - $at if length($data) > $at; # no whole record: its reader will say so
            return;
        }
        if ($at > KEPT) {
            keep($at);
            $at = 0;
        }
        read_more();
    }
}

# ---- All ----

# Waits until something can be read or written, and does that.
sub move {
    my ($hungry) = @_;
    my ($in, $out) = ('', '');
    vec($in, 0, 1) = 1 if $hungry;
    for my $worker (@workers) {
        vec($out, fileno $worker->{to},   1) = 1 if length $worker->{left};
        vec($in,  fileno $worker->{from}, 1) = 1 if may_read($worker);
    }
    return if select($in, $out, undef, undef) < 0;
    read_more() if vec $in, 0, 1;
    for my $worker (@workers) {
        feed($worker) if $worker->{to} && vec $out, fileno $worker->{to}, 1;
        read_frames($worker) if $worker->{from} && vec $in, fileno $worker->{from}, 1;
    }
    write_turns();
}

sub deal {
    my $unit;
    while (1) {
        while (!$stopped and $unit //= take_unit() and my $worker = idle()) {
            give($worker, $unit);
            undef $unit;
        }
        my $ended = $stopped || !$unit && !$more;
        for (grep { $_->{to} && $ended && !length $_->{left} } @workers) {
            $_->{to} = undef;
        }
        return if !grep { $_->{from} } @workers;
        move(!$ended && !$unit);
    }
}

$SIG{PIPE} = 'IGNORE';
$SIG{TERM} = sub { end_with(143) };
fcntl STDIN, PIPE, ROOM; # if it is a pipe
look();
if (!$value) {
    $how eq 'encode' ? divide() : keep(length $data);
    $chunks and !close $chunks and cannot('write', "$dir/chunks");
    say_now('reference');
    exit;
}
$data = get_kept(0, $kept) . $data if $chunks;
say_now('value');
exit if $how eq 'look';
start_all();
deal();
end_workers();
