#!/bin/sh
# zig.sh ZIG COMMAND TARGET ARGS…: compiles for TARGET. Zig caches no object for which it also writes a file of dependencies;
# node-gyp asks for these files, and needs none here, because it always starts from an empty folder.
zig=$1 command=$2 target=$3
shift 3
previous=
for argument do
  shift
  case $previous,$argument in
    -MF,*) : >"$argument" ;;
    *,-MMD | *,-MF) ;;
    *) set -- "$@" "$argument" ;;
  esac
  previous=$argument
done
# -g0: Zig writes debug information by default, which the linker would strip.
exec "$zig" "$command" -target "$target" -g0 "$@"
