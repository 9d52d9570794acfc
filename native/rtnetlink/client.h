// Links and addresses of one network namespace: codec plus socket. Every method blocks; call it off the event
// loop. Any thread may call, one at a time is let through.
#pragma once

#include <chrono>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "netlink/batch.h"
#include "netlink/socket.h"
#include "netlink/status.h"
#include "rtnetlink/types.h"

namespace knp::rtnetlink {

class Client {
 public:
  netlink::Status Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout);

  netlink::Status ListLinks(std::vector<Link>* out);
  // ENODEV when there is none of that name.
  netlink::Status GetLink(const std::string& name, Link* out);
  // Both families; of every link when `link` is empty, else ENODEV when there is none of that name.
  netlink::Status ListAddresses(const std::string& link, std::vector<NamedAddress>* out);

  // Sends a message that only reads; with NLM_F_DUMP, repeatedly while its answer is interrupted. `out` has
  // the answer, message by message, each with its nlmsghdr and padded to 4 bytes.
  netlink::Status Read(Encoded message, std::vector<uint8_t>* out);

  // Carries the operations out in their order; returns those that failed.
  std::vector<netlink::Failure> Apply(const std::vector<Operation>& operations);

 private:
  // The result of a batch's look-up of a name: the index, or the reason why there is none.
  struct Resolved {
    int32_t index = 0;
    netlink::Status status;
  };
  using Names = std::map<std::string, Resolved>;
  // Network namespaces that messages of a batch refer to, by their paths: open until they are sent.
  using Namespaces = std::map<std::string, netlink::Descriptor>;

  netlink::Status DumpLinks(std::vector<Link>* out);
  netlink::Status FindLink(const std::string& name, Link* out);
  Resolved ResolveNow(const std::string& link);
  const Resolved& Resolve(const std::string& link, netlink::Batch* batch, Names* names);
  static netlink::Status OpenNamespace(const std::string& path, Namespaces* namespaces, int32_t* out);
  netlink::Status ResolveReferences(const Encoded& message, netlink::Batch* batch, Names* names,
                                    Namespaces* namespaces, Encoded* out);
  void ApplyToAddress(uint32_t index, const Operation& operation, netlink::Batch* batch, Names* names);
  void ApplyMessage(uint32_t index, const Encoded& message, netlink::Batch* batch, Names* names,
                    Namespaces* namespaces);

  std::mutex mutex_;
  netlink::Socket socket_;
  // The link that was found last. Checked before it is used again: links are renamed, deleted and added.
  std::string found_name_;
  int32_t found_index_ = 0;
};

}  // namespace knp::rtnetlink
