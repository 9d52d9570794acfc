// Settings of a network namespace: files below /proc/sys/net.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "netlink/network_namespace.h"
#include "netlink/status.h"

namespace knp::netlink {

// Reads the text of a setting, of at most 64 bytes. The errno of open(2) or read(2) where it cannot be read:
// ENOENT where the kernel was built without it, EACCES where it is masked.
Status ReadSetting(const NetworkNamespace& network_namespace, const std::string& path,
                   std::vector<uint8_t>* out);

}  // namespace knp::netlink
