#include "ipset/types.h"

namespace knp::ipset {

const char* TypeName(SetType type) {
  switch (type) {
    case SetType::kHashIp:
      return "hash:ip";
    case SetType::kHashNet:
      return "hash:net";
    case SetType::kHashIpPort:
      return "hash:ip,port";
    case SetType::kHashIpPortIp:
      return "hash:ip,port,ip";
    case SetType::kHashIpPortNet:
      return "hash:ip,port,net";
    case SetType::kBitmapPort:
      return "bitmap:port";
    case SetType::kBitmapIp:
      return "bitmap:ip";
    case SetType::kBitmapIpMac:
      return "bitmap:ip,mac";
    case SetType::kHashMac:
      return "hash:mac";
    case SetType::kHashIpMac:
      return "hash:ip,mac";
    case SetType::kHashIpMark:
      return "hash:ip,mark";
    case SetType::kHashNetNet:
      return "hash:net,net";
    case SetType::kHashNetPort:
      return "hash:net,port";
    case SetType::kHashNetPortNet:
      return "hash:net,port,net";
    case SetType::kHashNetIface:
      return "hash:net,iface";
    case SetType::kListSet:
      return "list:set";
  }
  return "";
}

std::vector<std::string> TypeNames() {
  std::vector<std::string> names;
  for (int type = 1; *TypeName(static_cast<SetType>(type)) != '\0'; type++) {
    names.emplace_back(TypeName(static_cast<SetType>(type)));
  }
  return names;
}

}  // namespace knp::ipset
