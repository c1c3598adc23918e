#!/usr/bin/env bash
# Lists the rooms (top-level modules) of core, engine and rekindle, each with the first line of its module docs.
#
#   scripts/rooms.sh           prints the list
#   scripts/rooms.sh --write   puts it between the markers in docs/ARCHITECTURE.md
#   scripts/rooms.sh --check   fails if the document differs
#
# The order is that of the list in the crate's own docs. Modules for tests are left out.
set -euo pipefail
cd "$(dirname "$0")/.."

document=docs/ARCHITECTURE.md
begin='<!-- rooms: written by scripts/rooms.sh -->'
end='<!-- end of rooms -->'

fail() {
  echo "scripts/rooms.sh: $1" >&2
  exit 1
}

# Prints the modules that a crate declares, in the order in which its docs name them.
modules() {
  awk '
    /^\/\/! - / && listed {
      text = $0
      sub(/: .*/, "", text)
      while (match(text, /`[a-z_]+`/)) {
        order[++named] = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH)
      }
    }
    /^\/\/!.* in this list/ { listed = 1 }
    /^#\[cfg\(test\)\]/ { test = 1; next }
    /^(pub |pub\(crate\) )?mod [a-z_]+;/ {
      if (!test) {
        name = $0
        sub(/;.*/, "", name)
        sub(/.*mod /, "", name)
        declared[name] = 1
      }
    }
    { test = 0 }
    END {
      for (at = 1; at <= named; at++) {
        if (!(order[at] in declared)) {
          print "the docs of " FILENAME " list `" order[at] "`, which it does not declare" > "/dev/stderr"
          exit 1
        }
        print order[at]
        delete declared[order[at]]
      }
      for (name in declared) {
        print "the docs of " FILENAME " do not list `" name "`" > "/dev/stderr"
        exit 1
      }
    }
  ' "$1"
}

# Prints the first line of a module's docs, without requirement ids and the brackets of links.
first_line() {
  awk '
    NR == 1 && /^\/\/! / {
      sub(/^\/\/! /, "")
      gsub(/ \([A-Z0-9]+-[0-9][^)]*\)/, "")
      gsub(/\[`/, "`")
      gsub(/`\]/, "`")
      print
    }
  ' "$1"
}

rooms() {
  local root names name file line
  for root in crates/core/src/lib.rs crates/engine/src/lib.rs crates/rekindle/src/main.rs; do
    printf '\n### %s\n\n' "${root%/*}"
    names=$(modules "$root") || fail "cannot list the rooms of ${root%/*}"
    for name in $names; do
      file="${root%/*}/$name/mod.rs"
      [ -f "$file" ] || file="${root%/*}/$name.rs"
      line=$(first_line "$file")
      [ -n "$line" ] || fail "$file does not begin with a //! line"
      case $line in
        *.) printf -- '- `%s`: %s\n' "$name" "$line" ;;
        *) fail "the first line of $file is not a whole sentence: $line" ;;
      esac
    done
  done
  echo
}

# Prints the document with the given list between its markers.
document_with() {
  LIST="$1" BEGIN_MARKER="$begin" END_MARKER="$end" awk '
    $0 == ENVIRON["END_MARKER"] { inside = 0; ended = 1 }
    !inside { print }
    $0 == ENVIRON["BEGIN_MARKER"] { print ENVIRON["LIST"] "\n"; inside = 1 }
    END { if (!ended) exit 1 }
  ' "$document" || fail "$document has no lines \"$begin\" and \"$end\""
}

list=$(rooms)
case "${1-}" in
  '')
    echo "$list"
    ;;
  --write)
    text=$(document_with "$list")
    printf '%s\n' "$text" > "$document"
    ;;
  --check)
    text=$(document_with "$list")
    [ "$text" = "$(< "$document")" ] || fail "the rooms in $document are out of date: run scripts/rooms.sh --write"
    ;;
  *)
    fail "unknown option $1: use --write or --check"
    ;;
esac
