#!/bin/bash
# What the self-tests of the lab share: cases that run as many at a time as there are processors. Sourced, never run.
# SPDX-License-Identifier: GPL-2.0-only

# shellcheck source=tests/lab/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

work=$(mktemp -d)
export FDECRYPT_FAILED=$work/failed	# these guests fail on purpose, nobody wants their logs
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
pattern=${1-}
kernel=normal
count=0 failures=0 cases=0

wanted() { [[ $1 == *"$pattern"* ]]; }

report() {	# STATUS NAME [FILE_WITH_REASON]
	count=$((count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $count - $2"
	else
		failures=$((failures + 1))
		echo "not ok $count - $2"
		[ -z "${3-}" ] || tail -n 30 "$3" | sed 's/^/# /'
	fi
}

# Note a case: the script for the guest comes on stdin.
case_() {	# NAME STATUS TEXT [GUEST_OPTION]...
	local script
	wanted "$1" || return 0
	cases=$((cases + 1))
	script=$work/$cases
	{ echo '#!/bin/bash'; cat; } >"$script.sh"
	printf '%s' "$1" >"$script.name"
	printf '%s' "$2" >"$script.status"
	printf '%s' "$3" >"$script.text"
	shift 3
	echo "${*@Q}" >"$script.options"
}

run_one() {	# SCRIPT
	local status=0
	eval "set -- \"$1\" $(cat "$1.options")"
	"$lab_dir/guest" --kernel "$kernel" --module no --aesni no --cpus 1 "${@:2}" "$1.sh" >"$1.out" 2>"$1.err" || status=$?
	echo "exit status $status, expected $(cat "$1.status"), with the text: $(cat "$1.text")" >>"$1.err"
	[ "$status" -eq "$(cat "$1.status")" ] && grep -qF -e "$(cat "$1.text")" "$1.out" "$1.err" && touch "$1.good"
}

run_cases() {
	local n
	"$lab_dir/kernel" "$kernel" >/dev/null
	for ((n = 1; n <= cases; n++)); do
		while [ "$(jobs -rp | wc -l)" -ge "$lab_jobs" ]; do sleep 0.1; done
		run_one "$work/$n" &
	done
	wait
	for ((n = 1; n <= cases; n++)); do
		if [ -e "$work/$n.good" ]; then
			report 0 "$(cat "$work/$n.name")"
		else
			report 1 "$(cat "$work/$n.name")" "$work/$n.err"
		fi
	done
}

finish() {
	echo "1..$count"
	exit $((failures > 0))
}
