#!/usr/bin/perl
# manifest.pl - the files that a manifest.json of bpe-shard lists, line by line; for upload
#
#     manifest.pl MANIFEST.JSON
#
# The first line is `complete` or `incomplete`. Then there is a line for each file, with tabs between its fields: the
# number of its shard, from 0 (`-` for a file of the whole directory), its bytes, XXH3-128 and SHA-256 (`-` if not given)
# in hexadecimal, and its name. It is the JSON reader of scripts that have no other: what they do not need is read, and
# must be JSON, but is not kept. (Perl's own, JSON::PP, is not in Debian's perl-base.)
#
# Exit status: 65 if it is no such manifest, 66 if it cannot be read; the reason is on standard error, without a prefix.
use strict;
use warnings;
no warnings 'recursion'; # its depth has a limit

my ($path) = @ARGV;

sub fail { # STATUS MESSAGE
    print STDERR "$path: $_[1]\n";
    exit $_[0];
}

open my $in, '<:raw', $path or fail(66, "cannot open: $!");
my $json = do { local $/; <$in> };
fail(66, "cannot read: $!") if !defined $json;
close $in;
pos($json) = 0;

sub bad {
    fail(65, "byte " . pos($json) . ": $_[0]: no manifest of bpe-shard, or a damaged one");
}

my %plain = (b => "\b", f => "\f", n => "\n", r => "\r", t => "\t");

# Only what bpe-shard escapes: control characters, the quote and the backslash, and as half a surrogate a byte that is not
# UTF-8; the rest of UTF-8 stands for itself.
sub character {
    my ($n) = @_;
    return chr $n - 0xdc00 if $n >= 0xdc80 && $n <= 0xdcff;
    my $c = chr $n;
    utf8::encode($c);
    return $c;
}

sub unescape {
    my ($s) = @_;
    $s =~ s{\\(?:u([0-9a-fA-F]{4})|(.))}{defined $1 ? character(hex $1) : $plain{$2} // $2}ge;
    return $s;
}

# What follows, and space after it: `{`, `[`, a string with its quotes, a number or a word.
sub token {
    $json =~ /\G([][{}:,]|"(?:[^"\\\x00-\x1f]++|\\["\\\/bfnrt]|\\u[0-9a-fA-F]{4})*+"|-?\d[-+.eE\d]*+|true|false|null)[ \n\r\t]*+/gc
      or bad("what is there is not JSON");
    return $1;
}

sub comma_or { # CLOSING: whether something else follows
    my $t = token();
    return 1 if $t eq ',';
    return 0 if $t eq $_[0];
    bad("a comma or $_[0] is missing");
}

sub next_is { # MARK: whether the next token is it, which is taken then
    return $json =~ /\G\Q$_[0]\E[ \n\r\t]*+/gc;
}

my $depth = 0;

# object({ KEY => FUNCTION }): reads one; the values of other keys are read by skip.
sub object {
    my ($handlers) = @_;
    token() eq '{' or bad("an object is missing");
    return if next_is('}');
    do {
        my $key = token();
        $key =~ /^"(.*)"$/s or bad("a key is missing");
        $key = unescape($1);
        token() eq ':' or bad("a colon is missing");
        ($handlers->{$key} // \&skip)->();
    } while comma_or('}');
}

sub array { # FUNCTION that reads an element
    my ($element) = @_;
    token() eq '[' or bad("an array is missing");
    return if next_is(']');
    do { $element->() } while comma_or(']');
}

sub skip {
    ++$depth < 100 or bad("nested too deeply");
    if ($json =~ /\G(?=\{)/gc) { object({}) }
    elsif ($json =~ /\G(?=\[)/gc) { array(\&skip) }
    else { token() =~ /^[]}:,]/ and bad("a value is missing") }
    $depth--;
}

sub string {
    my $t = token();
    $t =~ /^"(.*)"$/s or bad("a string is missing");
    return unescape($1);
}

my (@lines, %seen, $complete, $version);
my $shards = 0;

sub enter { # SHARD FILE
    my ($shard, $f) = @_;
    my $name = $f->{name} // bad("a file without a name");
    bad("the name of a file leads out of the directory, or has control characters")
      if $name eq '' || $name =~ /[\x00-\x1f\x7f]/ || grep { $_ eq '' || $_ eq '.' || $_ eq '..' } split m{/}, $name, -1;
    bad("$name twice") if $seen{$name}++ || $name eq 'manifest.json';
    bad("$name: no size")     if ($f->{bytes}  // '') !~ /^\d{1,18}$/;
    bad("$name: no checksum") if ($f->{xxh128} // '') !~ /^[0-9a-f]{32}$/;
    my $sha256 = $f->{sha256} // '-';
    bad("$name: no SHA-256") if $sha256 !~ /^([0-9a-f]{64}|-)$/;
    push @lines, join("\t", $shard, $f->{bytes}, $f->{xxh128}, $sha256, $name) . "\n";
}

sub fields { # FILE, MORE: the handlers that read one
    my ($f, %more) = @_;
    return {
        name   => sub { $f->{name}   = string() },
        bytes  => sub { $f->{bytes}  = token() },
        xxh128 => sub { $f->{xxh128} = string() },
        sha256 => sub { $f->{sha256} = string() },
        %more,
    };
}

sub file { # SHARD
    my ($shard) = @_;
    my $f = {};
    object(fields($f));
    enter($shard, $f);
}

sub shard {
    my ($f, @further) = ({});
    object(fields($f, files => sub {
        array(sub { my $g = {}; object(fields($g)); push @further, $g });
    }));
    enter($shards, $_) for $f, @further;
    $shards++;
}

$json =~ /\G[ \n\r\t]*+/gc;
object({
    version  => sub { $version  = token() },
    complete => sub { $complete = token() },
    shards   => sub { array(\&shard) },
    files    => sub { array(sub { file('-') }) },
});
bad("something follows its end") if pos($json) < length $json;
fail(65, "no manifest of bpe-shard: no version") if !defined $version;
fail(65, "version $version of the manifest is not known: a newer bpetools made it") if $version ne '1';
fail(65, "no manifest of bpe-shard: it does not say whether it is complete") if ($complete // '') !~ /^(true|false)$/;
print $complete eq 'true' ? "complete\n" : "incomplete\n", @lines;
close STDOUT or fail(74, "standard output: cannot write: $!");
