// Files of /proc/net: facts of a network namespace that netlink does not report, or not without a dump.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::ipvs {

// Opens /proc/net/NAME of the namespace; ENOENT without the file or procfs. The file remains that of the
// namespace in which it was opened, whichever thread reads it.
netlink::Status OpenProcNet(const netlink::NetworkNamespace& network_namespace, const char* name,
                            netlink::Descriptor* out);

// Reads the next `size` bytes; fewer, or none, at the end only.
netlink::Status ReadPiece(const netlink::Descriptor& file, size_t size, std::vector<uint8_t>* out);

// Whether the namespace has no local routing table (fib_triestat lists the tables, empty ones too). The
// kernel adds it with the first IPv4 address on a link that is up. False where the file cannot be read.
bool LacksLocalTable(const netlink::NetworkNamespace& network_namespace);

}  // namespace knp::ipvs
