// The classes of the addon: each wraps an object of C++, which blocks, and gives JavaScript promises.
#pragma once

#include <napi.h>

#include <chrono>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "binding/job.h"
#include "binding/namespace_value.h"
#include "netlink/batch.h"
#include "netlink/status.h"

namespace knp::binding {

using Records = std::vector<uint8_t>;
using Failures = std::vector<netlink::Failure>;

// A class of the addon whose objects have a Client each: `open(netns, timeout)` and `close()`, to which
// `Binding`, the derived class, adds its own methods. Client needs a default constructor and
// `Status Open(const netlink::SharedNamespace&, std::chrono::milliseconds timeout)`; an open one holds the
// namespace.
template <typename Binding, typename Client>
class ClientBinding : public Napi::ObjectWrap<Binding> {
 public:
  explicit ClientBinding(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<Binding>(info), client_(std::make_shared<Client>()) {}

 protected:
  using Wrap = Napi::ObjectWrap<Binding>;
  using Methods = std::vector<Napi::ClassPropertyDescriptor<Binding>>;

  // Adds the class to the exports of the addon.
  static void Export(Napi::Object exports, const char* name, Methods methods) {
    methods.push_back(Wrap::InstanceMethod("open", &ClientBinding::Open));
    methods.push_back(Wrap::InstanceMethod("close", &ClientBinding::Close));
    exports.Set(name, Wrap::DefineClass(exports.Env(), name, methods));
  }

  // Starts `work(client, &result)` on the pool; returns its promise, which is rejected with ERR_CLOSED after
  // Close(). The work owns what it needs and does not touch JavaScript. It shares the client, which may be
  // closed or collected at any time.
  template <typename Result, typename Work>
  Napi::Value Start(const Napi::CallbackInfo& info, Work work) {
    return Job<Result>::Start(info.Env(),
                              [client = client_, work = std::move(work)](Result* out) -> netlink::Status {
                                if (!client) return netlink::Status::Of(netlink::FailureKind::kClosed);
                                return work(client.get(), out);
                              });
  }

  // Starts `work(client)`, which returns a Status and has no result.
  template <typename Work>
  Napi::Value StartPlain(const Napi::CallbackInfo& info, Work work) {
    return Start<Records>(
        info, [work = std::move(work)](Client* client, Records* /*out*/) { return work(client); });
  }

  // Starts a batch: `apply(client, records)` returns the failures among operations whose records, of
  // `record_size` bytes, are the first argument.
  template <typename Apply>
  Napi::Value StartBatch(const Napi::CallbackInfo& info, size_t record_size, Apply apply) {
    Records records;
    if (!ReadRecords(info, 0, record_size, false, &records)) return {};
    return Start<Failures>(info, [records = std::move(records), apply](Client* client, Failures* out) {
      *out = apply(client, records);
      return netlink::Status{};
    });
  }

  // The same for operations that `load(records, &operations)` reads, and that Client::Apply() carries out.
  template <typename Operations, typename Load>
  Napi::Value ApplyBatch(const Napi::CallbackInfo& info, size_t record_size, Load load) {
    Records records;
    if (!ReadRecords(info, 0, record_size, false, &records)) return {};
    return Start<Failures>(
        info, [records = std::move(records), load = std::move(load)](Client* client, Failures* out) {
          Operations operations;
          netlink::Status status = load(records, &operations);
          if (status.ok()) *out = client->Apply(std::move(operations));
          return status;
        });
  }

  // Starts a listing: `store(values)` makes records of the values that `list(client, &values)` fills in.
  template <typename Value, typename List, typename Store>
  Napi::Value StartListing(const Napi::CallbackInfo& info, List list, Store store) {
    return Start<Records>(info, [list = std::move(list), store](Client* client, Records* out) {
      std::vector<Value> values;
      netlink::Status status = list(client, &values);
      if (status.ok()) *out = store(values);
      return status;
    });
  }

  // Called before the client is dropped, which calls under way keep until they end. A promise of what ends
  // later, or undefined.
  virtual Napi::Value BeforeClose(Napi::Env /*env*/) { return {}; }

  const std::shared_ptr<Client>& client() const { return client_; }

 private:
  Napi::Value Open(const Napi::CallbackInfo& info) {
    NamespaceArgument argument;
    std::chrono::milliseconds timeout{};
    if (!argument.Read(info, 0) || !ReadMilliseconds(info, 1, &timeout)) return {};
    return Start<OpenedIn>(info, [argument, timeout](Client* client, OpenedIn* out) {
      netlink::SharedNamespace network_namespace;
      netlink::Status status = argument.Open(&network_namespace);
      if (status.ok()) status = client->Open(network_namespace, timeout);
      out->network_namespace = network_namespace;
      return status;
    });
  }

  Napi::Value Close(const Napi::CallbackInfo& info) {
    const Napi::Value end = BeforeClose(info.Env());
    client_.reset();
    return end;
  }

  std::shared_ptr<Client> client_;
};

}  // namespace knp::binding
