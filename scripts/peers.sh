#!/usr/bin/env bash
# Puts programs that Debian does not have in the version that is wanted into target/peers: load testers, for the tests that compare reports
# and exchange results or that `make bench` measures, Helm, nfpm, which makes packages, h2spec, which judges HTTP/2, servers of gRPC and HTTP/3 (scripts/grpcd,
# scripts/http3d), and JMeter, against which the reader of test plans is held.
#
#   scripts/peers.sh hey vegeta jmeter
#
# Those in Go are built from the Go module proxy; JMeter is put together from its Maven artifacts as its own archive has it, with the
# plugins that most plans need. Each has a fixed version and is kept: a second call does nothing.
set -euo pipefail

PATH="$PATH:/usr/local/go/bin"
cd "$(dirname "$0")/.."
peers="${CARGO_TARGET_DIR:-target}/peers"
case "$peers" in
    /*) ;;
    *) peers="$PWD/$peers" ;;
esac
mkdir -p "$peers"

# A source at its version, and where in it the program is.
source_of() {
    case "$1" in
        grpcd | http3d) echo "$PWD/scripts/$1@$(cat "scripts/$1"/* | sha256sum | cut -c1-16)" -here ;;
        helm) echo helm.sh/helm/v3@v3.22.0 /cmd/helm ;;
        ghz) echo github.com/bojand/ghz@v0.93.0 /cmd/ghz ;;
        k6) echo go.k6.io/k6@v1.8.1 ;;
        oha) echo oha@1.16.0 -with-http3 ;;
        nfpm) echo github.com/goreleaser/nfpm/v2@v2.48.0 /cmd/nfpm ;;
        h2specd) echo github.com/summerwind/h2spec@v2.2.1+incompatible /cmd/h2specd ;;
        hey) echo github.com/rakyll/hey@v0.1.4 ;;
        jmeter) echo org.apache.jmeter@5.6.3 -and-six-plugins ;;
        vegeta) echo github.com/tsenart/vegeta/v12@v12.12.0 ;;
        *) echo "peers.sh: no source is known for '$1'" >&2; exit 2 ;;
    esac
}

# Not `go install`, which asks the proxy for all versions first; the version is known.
build_with_go() {
    cd "$work" && go mod init peers && go mod edit -require "$source" && go build -mod=mod -o "$peers/$peer" "${source%@*}$place"
}

# A program of our own, from the modules that its go.sum names.
build_here() {
    cd "${source%@*}" && go build -o "$peers/$peer" .
}

build_with_cargo() {
    cargo install --quiet --locked --no-track --root "$work" --target-dir "$work/target" --version "${source#*@}" --features http3 "$peer" \
        && mv "$work/bin/$peer" "$peers/$peer"
}

build_with_mvn() {
    local part home=$peers/$peer
    {
        echo "<project><modelVersion>4.0.0</modelVersion><groupId>peers</groupId><artifactId>$peer</artifactId><version>1</version>"
        echo "<packaging>pom</packaging><dependencies>"
        for part in '' _core _http _java _components _functions _config; do
            echo "<dependency><groupId>${source%@*}</groupId><artifactId>ApacheJMeter$part</artifactId><version>${source#*@}</version></dependency>"
        done
        # Without what they rest on: that is JMeter, of another version.
        for plugin in kg.apc:jmeter-plugins-{cmn-jmeter:0.7,casutg:2.10,functions:2.1,tst:2.5} com.blazemeter:jmeter-{parallel:0.12,plugins-wsc:0.7}; do
            IFS=: read -r group artifact version <<< "$plugin"
            echo "<dependency><groupId>$group</groupId><artifactId>$artifact</artifactId><version>$version</version>"
            echo "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
        done
        echo "</dependencies></project>"
    } > "$work/pom.xml"
    rm -rf "$home" && mkdir -p "$home/bin" "$home/lib/ext" "$home/lib/junit" && cd "$work" \
        && mvn -q -B dependency:copy-dependencies -DincludeScope=runtime "-DoutputDirectory=$home/lib" \
        && mv "$home"/lib/ApacheJMeter_*.jar "$home"/lib/jmeter-p*.jar "$home/lib/ext" && mv "$home"/lib/ApacheJMeter-*.jar "$home/bin/ApacheJMeter.jar" \
        && (cd "$home" && jar xf lib/ext/ApacheJMeter_config-*.jar bin) && java -jar "$home/bin/ApacheJMeter.jar" -v
}

for peer in "$@"; do
    found=$(source_of "$peer")
    read -r source place <<< "$found"
    # The version is part of the mark, so that another one is built when this file names another one.
    mark="$peers/.$peer-${source##*@}${place//\//-}"
    if [ -x "$peers/$peer" ] && [ -e "$mark" ]; then
        continue
    fi
    tool=go build=build_with_go
    [ "$peer" != jmeter ] || tool=mvn build=build_with_mvn
    [ "$peer" != oha ] || tool=cargo build=build_with_cargo
    [ "$place" != -here ] || build=build_here
    if ! command -v $tool > /dev/null; then
        echo "error: $peer cannot be built: there is no $tool" >&2
        echo "  help: scripts/tools.sh $tool" >&2
        exit 1
    fi
    echo "building $source" >&2
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    ("$build") > "$work/log" 2>&1 || {
        cat "$work/log" >&2
        exit 1
    }
    rm -rf "$work" "$peers/.$peer-"*
    touch "$mark"
done
