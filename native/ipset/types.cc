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
  }
  return "";
}

}  // namespace knp::ipset
