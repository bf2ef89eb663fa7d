#!/usr/bin/perl
# deal.pl - what kind of records bpe-chunk writes, on standard input: for tasks
#
#     deal.pl look DIR
#
# What bpe-chunk writes decides what is done, not what the inputs look like from outside. While records only say where
# the text is, they are kept, and at the end that is all: they are few and small, and go to DIR/chunks. The caller learns
# which it is from standard output: the line `reference` at the end of the records, or `value` with the first that holds
# text; or the exit status: 74.
use strict;
use warnings;
use Errno qw(EINTR);

BEGIN {
    (my $file = $0) =~ s/[^\/]*$/records.pl/;
    require($file =~ /^\// ? $file : "./$file");
}

use constant {
    PIPE => 1031,        # F_SETPIPE_SZ, and the size
    ROOM => 1 << 20,
    KEPT => 16 << 20,    # bytes of records that are held here
};

my ($how, $dir) = @ARGV;
my $name = "$dir/chunks";
our ($data, $more);
my $chunks;

sub say_now {
    my ($line) = @_;
    syswrite STDOUT, "$line\n" or exit; # nobody waits for it any more
}

sub fail {
    my ($message) = @_;
    print STDERR "bpe: $message\n";
    say_now(74);
    exit 74;
}

sub keep { # BYTES: of $data
    my ($n) = @_;
    if (!$chunks) {
        open $chunks, '>:raw', $name or fail("$name: cannot create: $!");
    }
    my $at = 0;
    while ($at < $n) {
        my $wrote = syswrite $chunks, $data, $n - $at, $at;
        if (defined $wrote) {
            $at += $wrote;
        } elsif (!$!{EINTR}) {
            fail("$name: cannot write: $!");
        }
    }
    substr $data, 0, $n, '';
}

my $at = 0;
fcntl STDIN, PIPE, ROOM; # if it is a pipe
while (1) {
    while (my ($n, $type) = record_at($at)) {
        if ($type =~ /[C?]/) {
            say_now('value');
            exit;
        }
        $at += $n;
    }
    last if !$more;
    if ($at > KEPT) {
        keep($at);
        $at = 0;
    }
    read_more();
}
keep(length $data); # what is no whole record, too: its reader will say so
close $chunks or fail("$name: cannot write: $!");
say_now('reference');
