#!/bin/sh
# nightly.sh LAYOUT DIR [DEPTH]: scan all brokers; print what to do by cluster, then what is new since the night before.
# Exit code: 3 a log dir is missing, or something was not read; 1 a finding is an error, or a cluster needs a person
# before a restart; 2 wrong use; 0 no person is needed, though a decision can still be "soon" or "not known".
kcheck fleet scan "$1" --output-dir "$2" --depth "${3:-headers}" --quiet > /dev/null
code=$?
[ $code -eq 2 ] && exit 2
kcheck fleet report "$2" --html "$2/report.html" --exit-zero
[ "$(ls -d "$2"/run=* | wc -l)" -gt 1 ] && kcheck fleet diff "$2" --severity warning --exit-zero
exit $code
