# The target of node-gyp: build/Release/knp.node. The sources are relative to the folder of the binding.gyp that includes this file;
# node-addon-api must be installed there or above. Development builds, unit tests and sanitizers: CMakeLists.txt.
{
  "target_defaults": {
    "include_dirs": [".", "<!(node -p \"require('node-addon-api').include_dir\")"],
    "defines": [
      "NAPI_VERSION=8",
      # No C++ exception is thrown by us or by node-addon-api: failures are values (netlink/status.h).
      "NODE_ADDON_API_DISABLE_CPP_EXCEPTIONS",
      # A worker thread that is being terminated can no longer run JavaScript: a promise that cannot be settled
      # any more is dropped, where node-addon-api would otherwise abort the process.
      "NODE_API_SWALLOW_UNTHROWABLE_EXCEPTIONS",
    ],
    # Protection of the stack, and checked calls of the C library, where it has them (glibc). The compiler may set the level of the
    # latter itself, and warns of two.
    "cflags_cc": [
      "-std=c++17", "-Wall", "-Wextra", "-Werror", "-fvisibility=hidden", "-fno-exceptions",
      "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2", "-Wno-error=cpp",
    ],
    "cflags_cc!": ["-std=gnu++17", "-std=gnu++20", "-fno-rtti"],
    # All symbols are found when the addon is loaded, and their table is read-only then. The build id names the binary in the
    # reports of a crash; it is the hash of its contents, so that equal sources have equal ids.
    "ldflags": ["-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack", "-Wl,--build-id=sha1"],
  },
  "targets": [
    {
      "target_name": "knp",
      "sources": ["<!@(node native/units.mjs native/sources.txt)"],
      "libraries": ["-ldl"],
      "conditions": [["OS!='linux'", {"sources": ["netlink is Linux only"]}]],
    }
  ]
}
