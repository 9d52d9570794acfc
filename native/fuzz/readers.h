// Every reader of the package that takes bytes from a socket, under one signature.
#pragma once

#include <cstddef>
#include <cstdint>

#include "netlink/message_reader.h"

namespace knp::fuzz {

struct Reader {
  const char* name;
  // Reads a message, and makes records of the result; true when the message counts as good.
  bool (*read)(const netlink::Message& message);
};

extern const Reader kReaders[];
extern const size_t kReaderCount;

}  // namespace knp::fuzz
