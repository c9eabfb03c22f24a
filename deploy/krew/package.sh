#!/usr/bin/env bash
# Packages the plug-in for krew.
#
#   package.sh archive FOLDER                        build for this machine, and put the archive into FOLDER
#   package.sh manifest FOLDER RELEASES HOMEPAGE     write FOLDER/trusted.yaml for all archives that are in FOLDER
#
# The manifest names only platforms whose archive is there. On Linux the program is linked statically.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -1)

fail() { echo "package.sh: $*" >&2; exit 2; }

sum() { if command -v sha256sum >/dev/null; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d' ' -f1; }

platform() {
    case $(rustc -vV | sed -n 's/^host: //p') in
        x86_64-*-linux-*) echo linux-amd64 ;;
        aarch64-*-linux-*) echo linux-arm64 ;;
        x86_64-apple-*) echo darwin-amd64 ;;
        aarch64-apple-*) echo darwin-arm64 ;;
        x86_64-*-windows-*) echo windows-amd64 ;;
        *) fail "no archive is made for $(rustc -vV | sed -n 's/^host: //p')" ;;
    esac
}

archive() {
    local folder=$1 platform program=kubectl-trusted
    platform=$(platform)
    case $platform in
        linux-*) export RUSTFLAGS='-C target-feature=+crt-static' ;;
        windows-*) export RUSTFLAGS='-C target-feature=+crt-static' program=kubectl-trusted.exe ;;
    esac
    # A target is named so that the flags are not meant for build scripts too.
    local target
    target=$(rustc -vV | sed -n 's/^host: //p')
    (cd "$root" && cargo build --locked --profile dist --package kubectl-trusted --target "$target")
    stage=$(mktemp -d) # not local: the trap runs after the function
    trap 'rm -rf "$stage"' EXIT
    cp "${CARGO_TARGET_DIR:-$root/target}/$target/dist/$program" "$root/LICENSE" \
        "$root/completions/kubectl_complete-trusted" "$stage"
    mkdir -p "$folder"
    tar -C "$stage" -czf "$folder/kubectl-trusted-$platform.tar.gz" .
    echo "$folder/kubectl-trusted-$platform.tar.gz"
}

manifest() {
    local folder=$1 releases=$2 homepage=$3 text platform file
    text=$(sed -e '/^#/d' -e "s|VERSION|$version|g" -e "s|RELEASES|$releases|g" -e "s|HOMEPAGE|$homepage|g" \
        "$here/trusted.yaml")
    for platform in linux-amd64 linux-arm64 darwin-amd64 darwin-arm64 windows-amd64; do
        file=$folder/kubectl-trusted-$platform.tar.gz
        if [ -e "$file" ]; then
            text=${text//SHA256-$platform/$(sum "$file")}
        else
            echo "package.sh: no $file: the manifest leaves $platform out" >&2
            # Four lines of a platform, of which the checksum is the third.
            text=$(awk -v sum="SHA256-$platform" '
                { line[NR] = $0 } $2 == sum { gone = NR }
                END { for (n = 1; n <= NR; n++) if (!gone || n < gone - 2 || n > gone + 1) print line[n] }' <<<"$text")
        fi
    done
    printf '%s\n' "$text" >"$folder/trusted.yaml"
    echo "$folder/trusted.yaml"
}

case "${1-}:$#" in
    archive:2) archive "$2" ;;
    manifest:4) manifest "$2" "$3" "$4" ;;
    *) sed -n '2,7s/^# \{0,1\}//p' "$0" >&2; exit 2 ;;
esac
