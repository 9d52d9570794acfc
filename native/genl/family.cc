#include "genl/family.h"

#include <linux/genetlink.h>
#include <linux/netlink.h>

#include "netlink/exchange.h"
#include "netlink/message_builder.h"

namespace knp::genl {

using netlink::FailureKind;
using netlink::Status;

Status LookUpFamily(netlink::Socket* socket, std::string_view name, uint16_t* id) {
  const auto encode = [&](netlink::MessageBuilder* builder) {
    builder->Begin(GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK, 0);
    builder->PutHeader(genlmsghdr{CTRL_CMD_GETFAMILY, 1, 0});
    builder->PutString(CTRL_ATTR_FAMILY_NAME, name);
    return builder->End();
  };
  uint16_t found = 0;
  Status status = netlink::Query(socket, encode,
                                 [&](const netlink::Message& reply) { return DecodeFamily(reply, &found); });
  if (status.ok() && found == 0) return Status::Of(FailureKind::kMalformedReply, "no family id in the reply");
  if (status.ok()) *id = found;
  return status;
}

Status DecodeFamily(const netlink::Message& message, uint16_t* id) {
  genlmsghdr header{};
  if (!message.ReadHeader(&header))
    return Status::Of(FailureKind::kMalformedReply, "no generic netlink header");
  netlink::ReadError error;
  netlink::AttributeReader attributes = message.Attributes(sizeof(header), &error);
  while (attributes.Next()) {
    attributes.Read(CTRL_ATTR_FAMILY_ID, id);
  }
  return error.ToStatus();
}

}  // namespace knp::genl
