#!/usr/bin/env bash
# Runs the check with the inputs of the action, given in BOT, VARIANT, BASELINE and ARGUMENTS. Its exit code is that of
# the check. Words are split at blanks that stand in no quotes, and nothing else of a shell is done with them.
set -uo pipefail

# The words of a text, into the array `found`. No newer bash than that of macOS is needed.
split() {
    local told word
    if ! told=$(printf '%s' "$2" | xargs -n 1 printf '%s\n' 2>/dev/null); then
        echo "referee: $1: $2: quotes that are open; close them" >&2
        exit 2
    fi
    found=()
    [[ -z ${2//[[:space:]]/} ]] || while IFS= read -r word; do found+=("$word"); done <<<"$told"
}

# Whether a word names a bot rather than the program of a command: a folder, a .py file, a sample bot.
is_bot() { [[ -d $1 || $1 == *.py || ( ! -e $1 && -z $(type -P -- "$1") ) ]]; }

split bot "${BOT:-.}" && bots=("${found[@]}")
split variant "${VARIANT:-}" && games=(${found[@]+"${found[@]}"})
split arguments "${ARGUMENTS:-}" && more=(${found[@]+"${found[@]}"})
# YAML has taken the quotes of `bot: "node bot.js"`: one command, not two bots.
((${#bots[@]} < 2)) || is_bot "${bots[0]}" || [[ ${bots[0]} == *[[:space:]]* ]] || bots=("$BOT")
mkdir -p rules-check

for bot in "${bots[@]}"; do
    [[ ! -f $bot/bot.toml ]] || referee build "$bot" --network || exit
done

words=(check "${bots[@]}")
for game in ${games[@]+"${games[@]}"}; do words+=(--variant "$game"); done
[[ -n ${BASELINE:-} ]] && words+=(--baseline "$BASELINE")
for report in html:index.html junit:junit.xml json:report.json md:summary.md badge:badge.svg events:events.jsonl; do
    words+=(--report "${report%%:*}=rules-check/${report#*:}")
done

referee "${words[@]}" ${more[@]+"${more[@]}"}
code=$?
[[ -n ${GITHUB_STEP_SUMMARY:-} && -f rules-check/summary.md ]] && cat rules-check/summary.md >>"$GITHUB_STEP_SUMMARY"
[[ -n ${GITHUB_OUTPUT:-} ]] && echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
