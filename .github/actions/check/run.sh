#!/usr/bin/env bash
# Runs the check with the inputs of the action, given in BOT, VARIANT, BASELINE and ARGUMENTS. Its exit code is that of
# the check. Words are split at blanks and nothing else of a shell is done with them.
set -uo pipefail

read -r -a bots <<<"${BOT:-.}"
read -r -a games <<<"${VARIANT:-}"
read -r -a more <<<"${ARGUMENTS:-}"
mkdir -p rules-check

for bot in "${bots[@]}"; do
    [[ ! -f $bot/bot.toml ]] || referee build "$bot" || exit
done

words=(check "${bots[@]}")
for game in "${games[@]}"; do words+=(--variant "$game"); done
[[ -n ${BASELINE:-} ]] && words+=(--baseline "$BASELINE")
for report in html:index.html junit:junit.xml json:report.json md:summary.md badge:badge.svg events:events.jsonl; do
    words+=(--report "${report%%:*}=rules-check/${report#*:}")
done

referee "${words[@]}" "${more[@]}"
code=$?
[[ -n ${GITHUB_STEP_SUMMARY:-} && -f rules-check/summary.md ]] && cat rules-check/summary.md >>"$GITHUB_STEP_SUMMARY"
[[ -n ${GITHUB_OUTPUT:-} ]] && echo "exit-code=$code" >>"$GITHUB_OUTPUT"
exit "$code"
