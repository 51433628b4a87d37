# shellcheck shell=bash
# Completes the words of sshoal and of the programs that come with it. The build makes this file from the option definitions.
# It needs bash 4 or newer, and no other package. Names come from files: none of them is ever evaluated.

# What a command takes. `options`: --flag, --flag=KIND where a value follows, or --flag=+KIND for every word up to the next
# option. `arguments`: one KIND each, or +KIND for all that follow. A KIND is files, none, words:a:b, or a kind of names that
# `sshoal complete-words` knows.
_sshoal_takes() {
  case $1 in
    @TABLE@) ;;
    *) return 1 ;;
  esac
}

_sshoal() {
  local words=() options=() arguments=() command='' kind='' start='' given=0 is_over='' first=1 last
  COMPREPLY=()
  _sshoal_read_line
  last=$((${#words[@]} - 1))
  start=${words[last]}
  command=${words[0]##*/}
  if [[ ($command == sshoal || $command == grass) && $last -gt 1 && ${words[1]} != -* ]]; then
    command+=" ${words[1]}"
    first=2
  fi
  _sshoal_takes "$command" || return 0
  _sshoal_read_words
  if [[ -n $is_over || (-n $kind && $kind != +*) || $start != -* ]]; then
    [[ -n $kind ]] || _sshoal_find_argument
    _sshoal_offer "${kind#+}" ''
  elif [[ $start == --*=* ]]; then
    _sshoal_find_kind "${start%%=*}"
    _sshoal_offer "${kind#+}" "${start%%=*}="
  else
    _sshoal_offer_flags
  fi
}

# Sets `words` to those up to the cursor. Bash cuts them at @, : and = as well; what no blank separates is one word.
_sshoal_read_line() {
  local rest=${COMP_LINE:0:COMP_POINT} part index
  for ((index = 0; index <= COMP_CWORD; index++)); do
    part=${COMP_WORDS[index]}
    [[ $index -lt $COMP_CWORD ]] || part=${rest#"${rest%%[![:blank:]]*}"}
    if [[ $index -eq 0 || $rest == [[:blank:]]* ]]; then
      words+=("$part")
    else
      words[${#words[@]} - 1]+=$part
    fi
    rest=${rest#*"$part"}
  done
}

# Reads the words before the last one. Sets `kind`, if that is the value of an option, `given`, which argument it is, and
# `is_over`, after which there are no options.
_sshoal_read_words() {
  local index
  for ((index = first; index < last; index++)); do
    if [[ -n $is_over ]]; then
      given=$((given + 1))
    elif [[ -n $kind && $kind != +* ]]; then
      kind=''
    elif [[ ${words[index]} == -- ]]; then
      is_over=yes kind=''
    elif [[ ${words[index]} == -?* ]]; then
      _sshoal_find_kind "${words[index]}"
    elif [[ -z $kind ]]; then
      given=$((given + 1))
    fi
  done
}

# Sets `kind` to what follows a flag; empty if nothing does.
_sshoal_find_kind() {
  local option
  kind=''
  for option in "${options[@]}"; do
    [[ $option != "$1="* ]] || kind=${option#*=}
  done
}

# Sets `kind` to that of the argument at the cursor.
_sshoal_find_argument() {
  local final=''
  [[ ${#arguments[@]} -eq 0 ]] || final=${arguments[${#arguments[@]} - 1]}
  kind=none
  if [[ $given -lt ${#arguments[@]} ]]; then
    kind=${arguments[given]}
  elif [[ $final == +* ]]; then
    kind=$final
  fi
}

_sshoal_offer_flags() {
  local option
  for option in "${options[@]}"; do
    [[ ${option%%=*} != "$start"* ]] || COMPREPLY+=("${option%%=*}")
  done
  compopt +o default 2>/dev/null
}

# Offers what a KIND ($1) has for the word. $2: what stands in the word before the value.
_sshoal_offer() {
  local value='' quote='' name kept
  _sshoal_unquote "${start#"$2"}"
  _sshoal_find_kept
  case $1 in
    files) return ;;
    none | '') ;;
    words:*)
      while IFS= read -r -d : name; do _sshoal_add "$name" "$2"; done <<<"${1#words:}:"
      ;;
    *)
      while IFS=$'\t' read -r name _; do
        _sshoal_add "$name" "$2"
      done < <(command sshoal complete-words "$1" -- "$value" 2>/dev/null </dev/null)
      ;;
  esac
  # A machine may also be named by a path.
  [[ $1 == machines ]] || compopt +o default 2>/dev/null
}

# Sets `quote` to the quote that the word begins with, and `value` to the word without it and without backslashes.
_sshoal_unquote() {
  local rest=$1
  if [[ $rest == [\"\']* ]]; then
    quote=${rest:0:1}
    rest=${rest:1}
  fi
  while [[ $rest == *\\* && $quote != "'" ]]; do
    value+=${rest%%\\*}
    rest=${rest#*\\}
    value+=${rest:0:1}
    rest=${rest:1}
  done
  value+=$rest
}

# Sets `kept` to the part of the word that readline leaves alone: up to the last character that ends words for it, and with it
# unless it is an @, which begins a word for bash.
_sshoal_find_kept() {
  local breaks='' char
  for char in @ : =; do
    [[ $COMP_WORDBREAKS != *"$char"* ]] || breaks+=$char
  done
  kept=''
  [[ -z $breaks || $start != *["$breaks"]* ]] || kept=${start%"${start##*["$breaks"]}"}
  kept=${kept%@}
}

# Adds a name ($1), quoted as the word is. $2: what stands in the word before it.
_sshoal_add() {
  local text=$1
  [[ $text == "$value"* ]] || return 0
  case $quote in
    '')
      printf -v text %q "$text"
      text=$2${text//\\,/,}
      text=${text#"$kept"}
      ;;
    \')
      [[ $text != *\'* ]] || return 0
      ;;
    *)
      # An exclamation mark cannot be escaped there.
      [[ $text != *!* ]] || return 0
      text=${text//\\/\\\\}
      text=${text//\"/\\\"}
      text=${text//\$/\\\$}
      text=${text//\`/\\\`}
      ;;
  esac
  COMPREPLY+=("$text")
}

complete -o default -F _sshoal @PROGRAMS@
