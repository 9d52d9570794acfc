# What node-gyp builds in a checkout. The package has no binding.gyp at its top, because npm would run node-gyp in every installation.
{
  "includes": ["native/addon.gypi"],
  "targets": [
    {
      # The limits of the kernel, for the benchmark: build/Release/knp_bench.node. Neither the package nor the image has it.
      "target_name": "knp_bench",
      "include_dirs": ["."],
      "sources": [
        "bench/native/binding.cc",
        "bench/native/commands.cc",
        "bench/native/cost.cc",
        "bench/native/entries.cc",
        "bench/native/messages.cc",
        "bench/native/transactions.cc",
        "native/binding/job.cc",
        "native/ipset/library.cc",
        "native/netlink/attribute_reader.cc",
        "native/netlink/message_builder.cc",
        "native/netlink/message_reader.cc",
        "native/netlink/network_namespace.cc",
        "native/process/child.cc",
        "native/process/command.cc",
      ],
      "libraries": ["-ldl"],
    }
  ]
}
