# Completes the words of sshoal and of the programs that come with it. The build makes this file from the option definitions.
# Names come from files: none of them is ever evaluated.

# Names of a kind that only this computer knows, each with what it is.
function __sshoal_names
    set -l start (commandline -ct | string replace -r -- '^--[^=]*=' '' | string unescape)
    command sshoal complete-words $argv[1] -- "$start" 2>/dev/null </dev/null
end

# A machine may also be named by a path.
function __sshoal_machines
    set -l names (__sshoal_names machines)
    if set -q names[1]
        printf '%s\n' $names
    else
        __fish_complete_path (commandline -ct)
    end
end

# The command of sshoal that stands before the cursor.
function __sshoal_command
    set -l words (commandline -opc)
    set -l others (string match -v -- '-*' $words[2..])
    echo $others[1]
end

# Whether the command is $argv[1]; without it, whether there is none yet.
function __sshoal_in
    test "$(__sshoal_command)" = "$argv[1]"
end

# The option that takes the word at the cursor as one more of its list.
function __sshoal_list
    set -l lists @LISTS@
    set -l words (commandline -opc)
    set -l flags (string match -- '-*' $words)
    contains -- "$flags[-1]" $lists; and echo $flags[-1]
end

# Whether the word at the cursor is an argument.
function __sshoal_at_argument
    not __sshoal_list >/dev/null
end

# Whether the word at the cursor is one more of the list of an option.
function __sshoal_in_list
    test "$(__sshoal_list)" = "$argv[1]"
end

@LINES@
