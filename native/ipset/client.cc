#include "ipset/client.h"

#include <linux/netfilter/ipset/ip_set.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <cerrno>
#include <mutex>
#include <utility>

#include "ipset/codec.h"
#include "ipset/library.h"
#include "ipset/writer.h"

namespace knp::ipset {

using netlink::Failure;
using netlink::FailureKind;
using netlink::Message;
using netlink::MessageBuilder;
using netlink::Status;

Status Client::Open(const netlink::SharedNamespace& network_namespace, std::chrono::milliseconds timeout) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Status status = netlink::OpenSockets({network_namespace, NETLINK_NETFILTER, timeout},
                                       {{&socket_, netlink::kLargestPart}});
  if (status.ok()) network_namespace_ = network_namespace;
  return status;
}

Status Client::List(std::vector<SetState>* out) {
  return Dump(EncodeListHeaders, out);
}

Status Client::Get(const std::string& name, SetState* out) {
  std::vector<SetState> sets;
  Status status = Dump([&](MessageBuilder* builder) { return EncodeListSet(builder, name); }, &sets);
  if (!status.ok()) return status;
  if (sets.size() != 1)
    return Status::Of(FailureKind::kMalformedReply, "not one set in the listing of one set");
  *out = std::move(sets.front());
  return {};
}

Status Client::Dump(const netlink::Encode& encode, std::vector<SetState>* out) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return netlink::Dump(
      &socket_, encode, [out] { out->clear(); },
      [out](const Message& reply) { return DecodeListPart(reply, out); });
}

Status Client::Query(const netlink::Encode& encode, const netlink::ReplyHandler& on_reply) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return netlink::Query(&socket_, encode, on_reply);
}

Status Client::Types(const std::vector<std::string>& names, std::vector<TypeSupport>* out) {
  for (const std::string& name : names) {
    // Types without addresses accept every family (find_set_type).
    const auto encode = [&](MessageBuilder* builder) { return EncodeType(builder, name, AF_INET); };
    TypeSupport type;
    Status status = Query(encode, [&type](const Message& reply) { return DecodeType(reply, &type); });
    if (status.is_errno(IPSET_ERR_FIND_TYPE)) continue;
    if (!status.ok()) return status;
    out->push_back(std::move(type));
  }
  return {};
}

Status Client::Protocol(ProtocolVersions* out) {
  return Query(EncodeProtocol, [out](const Message& reply) { return DecodeProtocol(reply, out); });
}

std::vector<Failure> Client::Apply(const std::vector<Operation>& operations) {
  std::vector<Failure> failures;
  if (operations.empty()) return failures;
  const Status status = WithSession([&](Session* session) {
    failures = Write(session, operations);
    return failures.empty();
  });
  if (status.ok()) return failures;
  failures.clear();
  for (uint32_t i = 0; i < operations.size(); i++) failures.push_back(Failure{i, status});
  return failures;
}

Status Client::Test(const std::vector<Operation>& operation, bool* found) {
  Status result;
  Status status = WithSession([&](Session* session) {
    result = ipset::Test(session, operation, found);
    return result.ok();
  });
  return status.ok() ? result : status;
}

Status Client::WithSession(const Work& work) {
  const std::lock_guard<std::mutex> lock(LibraryMutex());
  EndLeftSessions();
  const Library* library = nullptr;
  Status status = LoadLibrary(&library);
  if (!status.ok()) return status;
  bool keep = false;
  if (session_) {
    keep = work(session_.get());
  } else {
    session_ = std::make_unique<Session>(*library);
    if (session_->open()) {
      status = RunInside([&] { keep = work(session_.get()); });
    } else {
      status = Status::Errno(ENOMEM);
    }
  }
  // After a failure too: what the library remembers of it is not known.
  if (!keep) session_.reset();
  return status;
}

Status Client::RunInside(const std::function<void()>& work) {
  netlink::SharedNamespace where;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    where = network_namespace_;
  }
  return where->Run(work);
}

}  // namespace knp::ipset
