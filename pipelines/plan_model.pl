#!/usr/bin/perl
# plan_model.pl - from what plan_measure.pl found in a sample to what a larger corpus takes, for plan
#
#     plan_model.pl NAME=VALUE... -- COMMAND... < FACTS
#
# Heaps' law: text of n bytes has V(n) = K n^b distinct pretokens, a line on logarithmic axes. Real text's lines bend, mostly down.
# So a parabola is fitted to all sizes of the sample by least squares, and b is its slope at the end, K such that the line goes
# through the last point: beyond the sample, nothing bends any more. How far that can be trusted is measured: the line through
# the sizes up to a tenth of the sample is held against the whole sample. Its error, for one factor of ten, is the unit of the
# range: on the side on which it was wrong it is taken to add up as bending does (1, 3, 6, 10 ... times for 1, 2, 3, 4 factors
# of ten), on the other once for each factor of ten, 2 % at least. To that come 5 % for what chance does in a sample.
#
# All else follows from the distinct pretokens: bytes of counts and sums (their average length grows with the logarithm of V),
# records that are added up (V of each batch), memory (a line through the largest sizes), CPU time. Pretokens that occur N
# times or more are as large a part of all as in the sample, as they are for every n where words follow a power law.
#
# VALUEs: size, sample, whole (bytes), places, first, jobs, hosts, vocabulary, cost (USD an hour a core), memory, read and network
# (bytes of a machine, bytes a second; 0: no limit), json. COMMAND: lines that are to be run; {min-count} is where that option goes.
use strict;
use warnings;
use POSIX qw(ceil);

use constant {
    TABLE    => (512 << 20) / 3, # memory of a bpe-count that writes out its counts: of 512 MiB, untouched slots take none
    TASK     => 256 << 20, # text of a task: at least, and not more tasks than
    TASKS    => 20_000,
    BY_BYTE  => 0.6,  # of the time of counting goes by bytes at least, not by distinct pretokens
    LEAST    => 0.02, # error for a factor of ten
    CHANCE   => 0.05, # in a sample
    WAYS     => [qw(from expected to)],
};

my (%ask, %facts);
while (@ARGV and my $word = shift) {
    last if $word eq '--';
    my ($name, $value) = split /=/, $word, 2;
    $ask{$name} = $value;
}
my @command = @ARGV;
while (<STDIN>) {
    my ($name, @numbers) = split;
    push @{ $facts{$name} }, \@numbers;
}

# ---- Fitting ----

sub least { (sort { $a <=> $b } @_)[0] }
sub most  { (sort { $b <=> $a } @_)[0] }

# The line y = at0 + slope x through points [x, y, weight]: (at0, slope).
sub line {
    my @points = @_;
    my ($w, $x, $y, $xx, $xy) = (0) x 5;
    for (@points) {
        my $weight = $_->[2] // 1;
        $w  += $weight;
        $x  += $weight * $_->[0];
        $y  += $weight * $_->[1];
        $xx += $weight * $_->[0]**2;
        $xy += $weight * $_->[0] * $_->[1];
    }
    return (0, 0) if !$w;
    my $below = $w * $xx - $x**2;
    my $slope = $below ? ($w * $xy - $x * $y) / $below : 0;
    return (($y - $slope * $x) / $w, $slope);
}

# The same for what cannot fall as x grows; relative errors count.
sub rising {
    my ($at0, $slope) = line(map { [@$_, 1 / $_->[1]**2] } grep { $_->[1] > 0 } @_);
    return $at0 < 0 || $slope < 0 ? (0, $_[-1][1] / $_[-1][0]) : ($at0, $slope);
}

sub last_of {
    my ($n, @all) = @_;
    return @all > $n ? @all[-$n .. -1] : @all;
}

# ---- Heaps' law ----

my @point = map { [log $_->[0], log $_->[1]] } @{ $facts{point} };
my ($n_sample, $v_sample) = @{ $facts{point}[-1] };

# The slope at the last of some points of a parabola through all of them: what it adds to their line there. It is the line
# through what is left of x^2, and of y, when their own lines are taken away.
sub end_slope {
    my @points = @_;
    my ($y0, $slope) = line(@points);
    my ($xx0, $xx_slope) = line(map { [$_->[0], $_->[0]**2] } @points);
    my (undef, $bend) = line(map { [$_->[0]**2 - $xx0 - $xx_slope * $_->[0], $_->[1] - $y0 - $slope * $_->[0]] } @points);
    return $slope + $bend * (2 * $points[-1][0] - $xx_slope);
}

# What the line through the sizes up to a tenth expects of the whole sample; through the last of them.
sub held_out {
    my @small = grep { $_->[0] <= $point[-1][0] - log(10) + 0.2 } @point;
    my (undef, $slope) = line(@small);
    return exp($small[-1][1] + $slope * ($point[-1][0] - $small[-1][0]));
}

my $expected = held_out();
my $error    = log($expected / $v_sample);
my $unit     = most(abs $error, LEAST);
my $exponent = end_slope(@point);
my $ln_k     = $point[-1][1] - $exponent * $point[-1][0];

# ln V at n bytes, as the expected line has it.
sub ln_distinct {
    my ($n) = @_;
    my $x = log $n;
    return $ln_k + $exponent * $x if $x >= $point[-1][0];
    my ($i) = grep { $_ == 1 || $point[$_][0] >= $x && $point[$_ - 1][0] <= $x } reverse 1 .. $#point;
    my ($low, $high) = @point[$i - 1, $i];
    my $y = $low->[1] + ($high->[1] - $low->[1]) * ($x - $low->[0]) / ($high->[0] - $low->[0]);
    return $y > 0 ? $y : 0;
}

# Distinct pretokens of n bytes, one WAY of three.
sub distinct {
    my ($n, $way) = @_;
    my $decades = most(0, log($n / $n_sample) / log 10);
    my $chance = $decades ? CHANCE : 0;
    my ($bending, $other) = ($chance + $unit * $decades * ($decades + 1) / 2, $chance + $unit * $decades);
    my ($down, $up) = $error >= 0 ? ($bending, $other) : ($other, $bending);
    my $ln = ln_distinct($n) + { from => -$down, expected => 0, to => $up }->{$way};
    return exp($decades ? most($ln, $point[-1][1]) : $ln);
}

# ---- What follows from it ----

my ($length_a, $length_b) = line(map { [log $_->[1], $_->[2] / $_->[1]] } last_of(5, @{ $facts{point} }));
my ($zip) = map { $_->[1] / $_->[0] } @{ $facts{compressed} // [] };
my ($count_memory_a, $count_memory_b) = rising(map { [@$_[1, 3]] } last_of(3, @{ $facts{count} }));
my ($add_memory_a, $add_memory_b)     = rising(map { [@$_[1, 3]] } @{ $facts{add} }[0, -1]); # it grows in steps, by doubling
my ($merge_memory_a, $merge_memory_b) = rising(map { [@$_[0, 2]] } @{ $facts{merge} });
my ($add_seconds)     = (rising(map { [@$_[0, 2]] } last_of(4, @{ $facts{add} })))[1];
my ($merge_a, $merge_b) = rising(map { [@$_[0, 1]] } @{ $facts{merge} });
my ($count_record, $count_byte) = count_seconds();
my $spill_seconds = most($add_seconds, $facts{spill}[0][1] / $facts{spill}[0][0]);
my $sums_seconds  = $facts{sums}[0][1] / $facts{sums}[0][0];
my ($encode_bytes, $encode_seconds, $encode_memory, $encode_ids) = @{ $facts{encode}[0] };
my %often = map { $_->[0] => $_->[1] / $v_sample } @{ $facts{often} };

# CPU seconds of bpe-count for each distinct pretoken and each byte: seconds/byte as a line of records/byte.
sub count_seconds {
    my @parts = grep { $_->[0] * 50 > $n_sample } @{ $facts{count} };
    my ($byte, $record) = line(map { [$_->[1] / $_->[0], $_->[2] / $_->[0], $_->[0]] } @parts);
    my $whole = $parts[-1][2] / $parts[-1][0];
    ($byte, $record) = ($whole, 0) if $record < 0;
    if ($byte < BY_BYTE * $whole) { # which is chance
        $byte = BY_BYTE * $whole;
        $record = ($whole - $byte) * $parts[-1][0] / $parts[-1][1];
    }
    return ($record, $byte);
}

# Bytes of the counts of so many distinct pretokens.
sub counts_bytes {
    my ($v) = @_;
    my $each = $length_a + $length_b * log($v > 1 ? $v : 2);
    return $v * most($each, 4);
}

# Text that fills the table of a bpe-count.
sub text_of_table {
    my ($way) = @_;
    my ($low, $high) = (log $n_sample / 100, log 1e18);
    return 1e18 if !$count_memory_b;
    for (1 .. 60) {
        my $middle = ($low + $high) / 2;
        (distinct(exp $middle, $way) * $count_memory_b > TABLE ? $high : $low) = $middle;
    }
    return exp $low;
}

# Of n bytes in batches of so many: how many, and records in all.
sub batches {
    my ($n, $batch, $way) = @_;
    my $number = int($n / $batch);
    my $rest   = $n - $number * $batch;
    return $number * distinct($batch, $way) + ($rest > 1 ? distinct($rest, $way) : 0);
}

# ---- The plan ----

# How many sums sum-tree makes of those of all machines, with the fan-in that it has by itself, before the last; 1: none.
sub groups {
    my ($hosts, $jobs) = ($ask{hosts}, $ask{jobs} / $ask{hosts});
    my $fan_in = most(4, ceil($hosts / $jobs));
    return $hosts > $fan_in && $jobs > 1 ? ceil($hosts / $fan_in) : 1;
}

# One of the three WAYS of it, by names.
sub plan {
    my ($way) = @_;
    my ($n, $p, $hosts) = @ask{qw(size jobs hosts)};
    my $task = $hosts > 1 ? most(TASK, $n / TASKS) : $n / $p;
    my $batch = least($n, $task, text_of_table($way));
    my %is = (batch => $batch, distinct => distinct($n, $way));
    my $of_batch = distinct($batch, $way);
    $is{records}      = batches($n, $batch, $way);
    $is{counts}       = $is{records} * counts_bytes($of_batch) / $of_batch;
    my $of_host = distinct($n / $hosts, $way);
    $is{host_records} = $hosts * $of_host;
    $is{host_sums}    = $hosts > 1 ? $hosts * counts_bytes($of_host) : 0;
    $is{groups}        = groups();
    $is{group_records} = $is{groups} * distinct($n / $is{groups}, $way);
    $is{sum}          = counts_bytes($is{distinct});
    if ($zip) {
        $is{"${_}_zstd"} = $zip * $is{$_} for qw(counts sum);
        $is{host_sums_zstd} = $zip * $is{host_sums};
    }
    $is{count_memory} = least($count_memory_a + TABLE, $count_memory_a + $count_memory_b * $of_batch);
    $is{sum_memory}   = $add_memory_a + $add_memory_b * $of_host; # sums in files take hardly any
    $is{merge_memory} = $merge_memory_a + $merge_memory_b * $is{distinct};
    my $memory = $ask{memory} ? $ask{memory} / 2 : 0; # of bpe-sum, unless told otherwise
    $is{spilled} = $memory && $is{sum_memory} > $memory ? ($zip // 0.5) * $is{counts} / $hosts : 0;
    $is{learned} = $is{distinct};
    if ($ask{memory} && $is{merge_memory} > $ask{memory}) {
        $is{min_count} = least_count($ask{memory} / $is{merge_memory});
        $is{learned} *= part_of($is{min_count});
        $is{merge_memory} = $merge_memory_a + $merge_memory_b * $is{learned};
    }
    $is{ids} = $n * $encode_ids / $encode_bytes;
    $is{stages} = [stages(\%is)];
    return \%is;
}

# The part of all pretokens that occur $k times or more.
sub part_of {
    my ($k) = @_;
    my @known = sort { $a <=> $b } keys %often;
    my ($i) = grep { $known[$_] >= $k } 0 .. $#known;
    return $often{ $known[-1] } * ($k / $known[-1])**-$exponent if !defined $i;
    return $often{ $known[$i] };
}

# The least of 2, 3, 5, 10, 20, 50, ... that leaves no more than such a part.
sub least_count {
    my ($part) = @_;
    for (my $unit = 1; $unit < 1e12; $unit *= 10) {
        for my $k ($unit == 1 ? (2, 3, 5) : ($unit, 2 * $unit, 5 * $unit)) {
            return $k if part_of($k) <= $part;
        }
    }
    return 1e12;
}

# Seconds that so many bytes need at such a rate; 0: at any.
sub at_rate {
    my ($bytes, $rate) = @_;
    return $rate ? $bytes / $rate : 0;
}

sub stage {
    my ($name, $cores, $cpu, $wait) = @_;
    my $seconds = most($cpu / $cores, $wait // 0);
    return { name => $name, cores => $cores, cpu_seconds => $cpu, seconds => $seconds,
             waits => ($wait // 0) > $cpu / $cores ? 1 : 0, cost => $cores * $seconds / 3600 * $ask{cost} };
}

sub stages {
    my ($is) = @_;
    my ($n, $p, $hosts) = @ask{qw(size jobs hosts)};
    my $each   = $is->{spilled} ? $spill_seconds : $add_seconds;
    my $comes  = at_rate($n / $hosts, $ask{read});
    my @stages = stage('count', $p, $n * $count_byte + $is->{records} * $count_record, $comes);
    if ($hosts > 1) {
        my $groups = $is->{groups};
        my @come   = ($is->{host_records} * $sums_seconds, at_rate($is->{host_sums}, $ask{network}));
        push @stages, stage('sum of a machine', $hosts, $is->{records} * $each);
        push @stages, stage('sum of several',   $groups, @come) if $groups > 1;
        push @stages, stage('sum', 1, $groups > 1 ? $is->{group_records} * $sums_seconds : @come);
    } else {
        push @stages, stage('sum', 1, $is->{records} * $each);
    }
    push @stages, stage('merge', 1, $merge_a + $merge_b * $is->{learned});
    push @stages, stage('encode', $p, $n * $encode_seconds / $encode_bytes, $comes);
    return @stages;
}

# ---- Showing it ----

# Three digits, and the unit in which there are no more; units are 1000 times as large as those before.
sub scaled {
    my ($n, @units) = @_;
    $n /= 1000, shift @units while $n >= 999.5 && @units > 1;
    return sprintf($n >= 99.5 || $n == 0 ? '%.0f%s' : $n >= 9.95 ? '%.1f%s' : '%.2f%s', $n, $units[0]);
}

sub bytes { return scaled($_[0], ' B', ' kB', ' MB', ' GB', ' TB', ' PB', ' EB') }

sub number {
    my ($n) = @_;
    return scaled($n / 1000, ' k', ' M', ' G', ' T') if $n >= 999.5e3;
    return sprintf '%.0f', $n;
}

sub duration {
    my ($s) = @_;
    return sprintf '%.1f days', $s / 86400 if $s >= 48 * 3600;
    return sprintf '%.1f h', $s / 3600 if $s >= 2 * 3600;
    return sprintf '%.1f min', $s / 60 if $s >= 120;
    return sprintf $s >= 9.95 ? '%.0f s' : '%.2g s', $s;
}

sub many {
    my ($n, $one) = @_;
    return "$n $one" . ($n == 1 ? '' : $one =~ /s$/ ? 'es' : 's');
}

# Lines of what is one figure for each WAY.
sub rows {
    my ($plans) = @_;
    my $hosts = $ask{hosts} > 1;
    my @rows = (
        ['distinct pretokens', \&number, 'distinct'],
        $plans->{expected}{min_count} ? ["  learned from, --min-count", \&number, 'min_count'] : (),
        $plans->{expected}{min_count} ? ["  that leaves", \&number, 'learned'] : (),
        ['counts, of all bpe-counts', \&bytes, 'counts'],
        $zip ? ['  by zstd -3', \&bytes, 'counts_zstd'] : (),
        $hosts ? ['the sums of each machine', \&bytes, 'host_sums'] : (),
        $hosts && $zip ? ['  by zstd -3', \&bytes, 'host_sums_zstd'] : (),
        ['the sum', \&bytes, 'sum'],
        $zip ? ['  by zstd -3', \&bytes, 'sum_zstd'] : (),
        $ask{memory} ? [$hosts ? 'temporary files of each' : 'temporary files of bpe-sum', \&bytes, 'spilled'] : (),
        ['memory of a bpe-count', \&bytes, 'count_memory'],
        [$hosts ? 'memory of bpe-sum on each' : 'memory of bpe-sum', \&bytes, 'sum_memory'],
        ['memory of bpe-merge', \&bytes, 'merge_memory'],
        ['ids', \&number, 'ids'],
    );
    return map {
        my ($what, $show, $key) = @$_;
        [$what, map { defined $plans->{$_}{$key} ? $show->($plans->{$_}{$key}) : '-' } @{ +WAYS }]
    } @rows;
}

sub columns {
    my @lines = @_;
    my @width = (0) x 9;
    for my $line (@lines) {
        $width[$_] = most($width[$_], length $line->[$_]) for 0 .. $#$line;
    }
    return map {
        my $line = $_;
        join('  ', map { $_ ? sprintf "%$width[$_]s", $line->[$_] : sprintf "%-$width[0]s", $line->[0] } 0 .. $#$line) . "\n"
    } @lines;
}

sub bottleneck {
    my ($plan) = @_;
    my @training = grep { $_->{name} ne 'encode' } @{ $plan->{stages} };
    my $total = 0;
    $total += $_->{seconds} for @training;
    my ($longest) = sort { $b->{seconds} <=> $a->{seconds} } @training;
    return ($longest, $total);
}

# The lines of COMMAND; one may have a place for --min-count.
sub command {
    my ($plan) = @_;
    my $option = $plan->{min_count} ? " --min-count=$plan->{min_count}" : '';
    return map { s/ \{min-count\}/$option/r } @command;
}

sub text {
    my ($plans, $longest, $total) = @_;
    my $out = sprintf "sample        %s from %s%s\n", bytes($n_sample), many($ask{places}, 'place'),
        $ask{first} ? ", of " . many($ask{first}, 'file') . ' the beginning only' : '';
    $out .= sprintf "Heaps' law    V(n) = %.3g n^%.3f (n bytes of text): %s distinct pretokens in the sample\n",
        exp($ln_k), $exponent, number($v_sample);
    $out .= sprintf "held-out      the line of the first %s expects %s there: %.1f %% too %s\n\n", bytes($n_sample / 10),
        number($expected), 100 * abs(exp($error) - 1), $error < 0 ? 'few' : 'many';
    my $head = sprintf '%s, %s', bytes($ask{size}), many($ask{jobs}, 'process');
    $head .= ' on ' . many($ask{hosts}, 'machine') if $ask{hosts} > 1;
    $out .= join '', columns([$head, @{ +WAYS }], rows($plans));
    my $plan = $plans->{expected};
    my @lines = map {
        [$_->{name}, $_->{cores}, duration($_->{cpu_seconds}), duration($_->{seconds}) . ($_->{waits} ? ' *' : ''),
         $ask{cost} ? sprintf('%.2f', $_->{cost}) : ()]
    } @{ $plan->{stages} };
    $out .= "\n" . join '', columns(['stage', 'cores', 'CPU time', 'time', $ask{cost} ? 'USD' : ()], @lines);
    my %waits = map { $_->{name} =~ /^sum/ ? 'the network' : 'the text' => 1 } grep { $_->{waits} } @{ $plan->{stages} };
    $out .= '* waits for ' . join(' or ', sort keys %waits) . "\n" if %waits;
    $out .= sprintf "\nbottleneck    %s, %.0f %% of the %s that training takes\n", $longest->{name}, 100 * $longest->{seconds} / $total, duration($total);
    $out .= "memory        bpe-merge would need more than --memory: --min-count leaves out what is rare\n" if $plan->{min_count};
    return $out . "command       " . join("\n              ", command($plan)) . "\n";
}

# JSON of hashes, arrays, strings and numbers.
sub json {
    my ($value, $in) = (@_, '');
    if (ref $value eq 'HASH') {
        my @lines = map { qq($in  "$_": ) . json($value->{$_}, "$in  ") } sort keys %$value;
        return "{\n" . join(",\n", @lines) . "\n$in}";
    }
    return '[' . join(', ', map { json($_, $in) } @$value) . ']' if ref $value eq 'ARRAY';
    return 'null' if !defined $value;
    return sprintf '%.9g', $value if $value =~ /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/;
    (my $string = $value) =~ s/(["\\\x00-\x1f])/sprintf '\u%04x', ord $1/ge;
    return qq("$string");
}

my %plans = map { $_ => plan($_) } @{ +WAYS };
my ($longest, $total) = bottleneck($plans{expected});
if ($ask{json}) {
    print json({
        sample => { bytes => $n_sample, places => $ask{places}, first => $ask{first}, whole => $ask{whole} },
        points => [map { [@$_[0, 1]] } @{ $facts{point} }],
        heaps  => { K => exp($ln_k), exponent => $exponent, distinct => $v_sample,
                    held_out => { expected => $expected, error => exp($error) - 1 } },
        request => { map { $_ => $ask{$_} } qw(size jobs hosts vocabulary cost memory read network) },
        %plans, bottleneck => $longest->{name}, seconds => $total, command => [command($plans{expected})],
    }), "\n";
} else {
    print text(\%plans, $longest, $total);
}
close STDOUT or do { print STDERR "bpe plan: standard output: cannot write: $!\n"; exit 74 };
