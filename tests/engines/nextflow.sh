#!/bin/bash
# nextflow.sh - installs Nextflow from Maven Central in a directory, for nextflow.t: nextflow.sh build/nextflow
#
# 24.10.0 is the newest version with all its parts on Maven Central. Needs mvn, and Java 17 to 23.
set -e
dir=$(mkdir -p "$1" && cd "$1" && pwd)
cat >"$dir/pom.xml" <<END
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>nextflow</groupId><artifactId>nextflow</artifactId><version>1</version>
  <dependencies>
    <dependency><groupId>io.nextflow</groupId><artifactId>nextflow</artifactId><version>24.10.0</version></dependency>
  </dependencies>
</project>
END
mvn -q -B -f "$dir/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir"
