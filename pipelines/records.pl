# records.pl - for deal.pl: records on standard input, whole ones at a time. It defines fail(MESSAGE).
use strict;
use warnings;
use Errno qw(EINTR);

use constant {
    HEADER => 27,        # of a record: bpe-records(5)
    READ   => 256 << 10,
};

our ($data, $more) = ('', 1); # what was read and not given yet; whether more may come

sub read_more {
    my $n = sysread STDIN, $data, READ, length $data;
    fail("cannot read: $!") if !defined $n && !$!{EINTR};
    $more = 0 if defined $n && !$n;
}

# The length and type of the record at $at; nothing if it is not whole. What is no record is one of type `?`, up to the
# end: its reader will say so.
sub record_at {
    my ($at) = @_;
    return if length($data) - $at < HEADER;
    my ($type, $hex) = (substr($data, $at + 2, 1), substr $data, $at + 3, 8);
    return (length($data) - $at, '?') if $hex !~ /^[0-9a-f]{8}$/;
    my $n = HEADER + 1 + hex $hex;
    return length($data) - $at < $n ? () : ($n, $type);
}

1;
