#!/usr/bin/env bash
# A real Ceph RADOS Gateway (S3) on loopback, for tests: one monitor, one OSD, one gateway. Takes about 15 seconds.
#
# usage: ceph-rgw.sh start FOLDER [PORT]    prints the endpoint
#        ceph-rgw.sh stop FOLDER            ends it and removes FOLDER
#        ceph-rgw.sh missing                prints what is not installed; prints nothing when all is
#
# Region "default", path-style addresses, any bucket name; access key "test", secret key "testtest".
# STORE=memstore (the default) keeps the bytes in memory, 6 GiB at most; STORE=bluestore keeps them in a sparse file
# in FOLDER, 64 GiB at most, and survives a restart of its parts.
# OWNER=<pid>: when that process is gone, everything is stopped and removed.
set -euo pipefail

needed=(ceph ceph-mon ceph-osd monmaptool radosgw radosgw-admin curl)
packages='radosgw ceph-mon ceph-osd ceph-common curl'

missing() {
  for program in "${needed[@]}"; do
    command -v "$program" >/dev/null || printf '%s ' "$program"
  done
}

fail() {
  echo "ceph-rgw.sh: $*" >&2
  exit 1
}

# Only processes with this folder's configuration: the id in a pid file may have been reused.
is_ours() {
  tr '\0' '\n' <"/proc/$1/cmdline" 2>/dev/null | grep -qxF "$conf"
}

is_running() {
  is_ours "$1" && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

stop() {
  local file pid
  # SIGKILL suffices for test data.
  for file in "$dir"/run/*.pid; do
    [ -f "$file" ] || continue
    pid=$(cat "$file")
    [ -n "$pid" ] && is_ours "$pid" || continue
    kill -9 "$pid" 2>/dev/null || continue
    while is_running "$pid"; do sleep 0.05; done
  done
  rm -rf "$dir"
}

is_free() {
  ! (exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

# Below the range of ephemeral ports.
free_port() {
  local port
  for _ in $(seq 100); do
    port=$((20000 + RANDOM % 12000))
    if is_free "$port"; then
      echo "$port"
      return
    fi
  done
  fail 'no free port was found'
}

# until_works SECONDS WHAT COMMAND…
until_works() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt $end ] || broke "$what"
    sleep 0.2
  done
}

broke() {
  echo "ceph-rgw.sh: $1; the ends of its logs:" >&2
  tail -n 15 "$dir"/log/* >&2 || true
  stop
  exit 1
}

# step WHAT COMMAND…: its output is shown when it fails
step() {
  local what=$1
  shift
  "$@" >"$dir/log/step.txt" 2>&1 || broke "$what"
}

if [ "${1:-}" = missing ]; then
  missing
  exit 0
fi
[ $# -ge 2 ] || fail 'usage: ceph-rgw.sh start FOLDER [PORT] | stop FOLDER | missing'
mkdir -p "$2"
dir=$(cd "$2" && pwd)
conf="$dir/ceph.conf"
case $1 in
stop)
  stop
  exit 0
  ;;
watch)
  while [ -e "/proc/$3" ] && [ -f "$conf" ]; do sleep 1; done
  [ ! -f "$conf" ] || stop
  exit 0
  ;;
start) ;;
*) fail "$1 is neither start nor stop" ;;
esac

lacking=$(missing)
[ -z "$lacking" ] || fail "not installed: ${lacking% }; on Debian: apt-get install --no-install-recommends $packages"
[ "$(id -u)" = 0 ] || fail 'only root may start it'

stop
mkdir -p "$dir"/{mon,osd,log,run}
port=${3:-$(free_port)}
is_free "$port" || fail "port $port is in use"
mon=$(free_port)
while [ "$mon" = "$port" ]; do mon=$(free_port); done
fsid=$(cat /proc/sys/kernel/random/uuid)
# Frees deleted data within seconds: by default the gateway keeps it for two hours, which fills the memory.
cat >"$conf" <<C
[global]
fsid = $fsid
mon host = [v1:127.0.0.1:$mon]
mon initial members = a
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
auth cluster required = none
auth service required = none
auth client required = none
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 8
mon allow pool size one = true
mon data avail crit = 1
osd crush chooseleaf type = 0
osd class update on start = false
osd crush update on start = false
osd objectstore = ${STORE:-memstore}
memstore device bytes = 6442450944
bluestore block size = 68719476736
rgw gc obj min wait = 1
rgw gc processor period = 2
rgw gc processor max time = 2
rgw dynamic resharding = false
debug rgw = 0
mon data = $dir/mon
osd data = $dir/osd
run dir = $dir/run
log file = $dir/log/\$name.log
pid file = $dir/run/\$name.pid
admin socket = $dir/run/\$name.asok
[client.rgw]
rgw frontends = beast endpoint=127.0.0.1:$port tcp_nodelay=1
C

endpoint="http://127.0.0.1:$port"
osd_uuid=$(cat /proc/sys/kernel/random/uuid)
step 'no map of monitors could be made' monmaptool --create --fsid "$fsid" --addv a "[v1:127.0.0.1:$mon]" "$dir/monmap"
step 'the monitor could not be set up' ceph-mon -c "$conf" -i a --mkfs --monmap "$dir/monmap"
step 'the monitor could not be started' ceph-mon -c "$conf" -i a --setuser root --setgroup root
until_works 30 'the monitor does not answer' ceph -c "$conf" --connect-timeout 2 mon stat
# A client may send its command before it knows the monitor, and is refused: both commands can be repeated.
until_works 10 'the OSD got no number' ceph -c "$conf" -o "$dir/osd.id" osd new "$osd_uuid"
id=$(<"$dir/osd.id")
step 'the OSD could not be set up' ceph-osd -c "$conf" -i "$id" --mkfs --osd-uuid "$osd_uuid"
step 'the OSD could not be started' ceph-osd -c "$conf" -i "$id"
until_works 10 'the OSD got no place' ceph -c "$conf" osd crush add "osd.$id" 1 root=default host=localhost
step 'the gateway could not be started' radosgw -c "$conf" -n client.rgw
until_works 60 'the gateway does not answer' curl -sf -o /dev/null "$endpoint/"
step 'the account could not be made' radosgw-admin -c "$conf" user create --uid=test --display-name=test \
  --access-key=test --secret-key=testtest

if [ -n "${OWNER:-}" ]; then
  # In a session of its own, so that it survives a kill of the owner's process group. Detached from the caller's pipes,
  # whose readers would otherwise wait for it to end.
  setsid bash "$0" watch "$dir" "$OWNER" </dev/null >/dev/null 2>&1 &
fi
echo "$endpoint"
