# Prints the GPUs, and ends tools that hang.

# A broken driver can make its tools hang so that not even KILL ends them, and then `timeout` waits as well. So the
# tools write into a pipe beside a watchdog, and the reader of the pipe stops at the first word of either.
tell_gpus() {
  [ -n "${CUDA_VISIBLE_DEVICES+set}" ] && say visible cuda "$CUDA_VISIBLE_DEVICES"
  [ -n "${ROCR_VISIBLE_DEVICES+set}" ] && say visible rocr "$ROCR_VISIBLE_DEVICES"
  PATH=$PATH:/usr/lib/wsl/lib:/usr/local/nvidia/bin:/run/opengl-driver/bin:/run/current-system/sw/bin
  command -v nvidia-smi >/dev/null 2>&1 || [ -e "$sys/class/kfd" ] || { say no-smi && return; }
  {
    watchdog &
    echo "$nonce watchdog $!"
    { amd; nvidia; echo "$nonce over"; } 3>&1 &
    echo "$nonce tools $!"
  } 2>/dev/null | relay
}

watchdog() {
  # In this order, and with KILL: otherwise a quick tool could leave the sleeper behind.
  trap 'kill -KILL $!; exit' TERM
  sleep "$gpu_seconds" &
  wait $! && echo "$nonce late"
}

relay() {
  tool=
  while IFS= read -r line; do
    case $line in
      "$nonce watchdog "*) watchdog=${line##* } ;;
      "$nonce tools "*) tools=${line##* } ;;
      "$nonce tool "*) tool=${line##* } ;;
      "$nonce late")
        # shellcheck disable=SC2086
        kill -9 $tools $tool 2>/dev/null
        say late "$gpu_seconds"
        return
        ;;
      "$nonce over")
        kill "$watchdog" 2>/dev/null
        return
        ;;
      ?*) say "$line" ;;
    esac
  done
}

nvidia() {
  command -v nvidia-smi >/dev/null 2>&1 || { echo no-smi && return; }
  # An old driver rejects the whole query for one unknown field. The name is last, because it may contain commas.
  for fields in ,utilization.gpu,compute_mode,mig.mode.current ,utilization.gpu,compute_mode ''; do
    fields=index,uuid,memory.total,memory.free$fields,name
    ask_cards
    case $answer in *'not a valid field'*) ;; *) break ;; esac
  done
  echo "smi-fields $fields"
  show smi
  rows=$answer
  has_rows || ask_one_by_one
  case $rows in *', Enabled, '*) tell_slices ;; esac
  case $rows in *', Exclusive_'*) ask --query-compute-apps=gpu_uuid,pid --format=csv,noheader && show smi-process ;; esac
}

ask_cards() {
  ask "--query-gpu=$fields" --format=csv,noheader,nounits "$@"
}

# Sets $answer. Errors are often on stdout, so the answer has both streams. Prints the pid of the tool, which may have
# to be ended.
ask() {
  # shellcheck disable=SC2016
  answer=$(sh -c 'echo "$0 tool $$" >&3; exec nvidia-smi "$@" 2>&1 3>&-' "$nonce" "$@")
  true
}

show() {
  printf '%s\n' "$answer" | sed "s/^/$1 /"
}

has_rows() {
  case "
$answer" in *"
"[0-9]*", GPU-"*) ;; *) false ;; esac
}

# One lost card can hide all the others.
ask_one_by_one() {
  ask -L
  show smi-card
  for index in $(printf '%s\n' "$answer" | sed -n 's/^GPU \([0-9]*\): .*/\1/p'); do
    ask_cards -i "$index"
    show smi
    rows="$rows
$answer"
  done
}

tell_slices() {
  ask -L
  show smi-card
  ask -q -x
  answer=$(printf '%s\n' "$answer" | sed -n -e '/<gpu id=/p' -e '/<uuid>GPU-/p' -e '/<mig_device>/,/<\/mig_device>/p')
  show smi-slice
}

# sysfs stays the same from version to version; AMD's tools do not. Nodes are in ROCm's order.
amd() {
  for node in "$sys"/class/kfd/kfd/topology/nodes/*; do
    line_of "$node/gpu_id" || continue
    [ "$line" != 0 ] || continue
    minor=
    [ -r "$node/properties" ] && while read -r key value; do
      [ "$key" = drm_render_minor ] && minor=$value
    done <"$node/properties"
    device=$sys/class/drm/renderD$minor/device
    facts=${node##*/}
    for fact in vendor unique_id mem_info_vram_total mem_info_vram_used gpu_busy_percent device product_name; do
      line_of "$device/$fact" || line=-
      facts="$facts $line"
    done
    echo "amd renderD$minor $facts"
  done
}
