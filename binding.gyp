# What node-gyp builds in a checkout. The package has no binding.gyp at its top, because npm would run node-gyp in every installation.
{
  "includes": ["native/addon.gypi"],
  "targets": [
    {
      # The limits of the kernel, for the benchmark: build/Release/knp_bench.node. Neither the package nor the image has it.
      "target_name": "knp_bench",
      "include_dirs": ["."],
      "sources": ["<!@(node native/units.mjs bench/native/sources.txt)"],
      "libraries": ["-ldl"],
    }
  ]
}
