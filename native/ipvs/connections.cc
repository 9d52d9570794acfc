#include "ipvs/connections.h"

#include "ipvs/proc_net.h"

namespace knp::ipvs {

using netlink::Status;

Status ConnectionReader::Open(const netlink::NetworkNamespace& network_namespace) {
  return OpenProcNet(network_namespace, "ip_vs_conn", &file_);
}

Status ConnectionReader::Read(std::vector<uint8_t>* out) {
  return ReadPiece(file_, kConnectionsPiece, out);
}

}  // namespace knp::ipvs
