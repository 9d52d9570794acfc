// Generic netlink: families have names, and ids that the kernel hands out when their module is loaded.
#pragma once

#include <cstdint>
#include <string_view>

#include "netlink/message_reader.h"
#include "netlink/socket.h"
#include "netlink/status.h"

namespace knp::genl {

// An id that no family has (GENL_MAX_ID is 1023), for a start: the kernel answers it with ENOENT. Not 0:
// messages below NLMSG_MIN_TYPE are acknowledged and not looked at.
constexpr uint16_t kNoFamily = UINT16_MAX;

// Asks for the id of a family (CTRL_CMD_GETFAMILY). ENOENT when the kernel does not know it: its module is
// not loaded. `id` changes with success only.
netlink::Status LookUpFamily(netlink::Socket* socket, std::string_view name, uint16_t* id);

// Reads the id from a reply (CTRL_ATTR_FAMILY_ID).
netlink::Status DecodeFamily(const netlink::Message& message, uint16_t* id);

}  // namespace knp::genl
