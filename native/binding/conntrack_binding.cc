#include "binding/classes.h"
#include "binding/client_binding.h"
#include "binding/watch_binding.h"
#include "conntrack/client.h"
#include "conntrack/records.h"
#include "conntrack/watch.h"

namespace knp::binding {

namespace {

using conntrack::Flow;
using netlink::Status;
namespace layout = conntrack::layout;

// A type of this namespace, in which Job then looks for ToValue().
struct Deletion : conntrack::Deletion {};

Napi::Value ToValue(Napi::Env env, const Deletion& deletion) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("deleted", deletion.deleted);
  object.Set("failures", binding::ToValue(env, deletion.failures));
  object.Set("failed", binding::ToValue(env, conntrack::StoreFlows(deletion.failed)));
  return object;
}

// The class ConntrackClient of the addon; src/kernel/shared/addon.ts declares its methods.
class ConntrackClient : public ClientBinding<ConntrackClient, conntrack::Client> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "ConntrackClient",
           {
               InstanceMethod<&ConntrackClient::Apply>("apply"),
               InstanceMethod<&ConntrackClient::List>("list"),
               InstanceMethod<&ConntrackClient::Get>("get"),
               InstanceMethod<&ConntrackClient::Delete>("delete"),
               InstanceMethod<&ConntrackClient::Flush>("flush"),
               InstanceMethod<&ConntrackClient::GetStatistics>("statistics"),
               InstanceMethod<&ConntrackClient::ListExpectations>("listExpectations"),
               InstanceMethod<&ConntrackClient::GetCapabilities>("capabilities"),
           });
  }

 private:
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    const auto load = [](const Records& records, std::vector<conntrack::Operation>* out) {
      *out = conntrack::LoadOperations(records.data(), records.size());
      return Status{};
    };
    return ApplyBatch<std::vector<conntrack::Operation>>(info, layout::Operation::kSize, load);
  }

  Napi::Value List(const Napi::CallbackInfo& info) {
    Records filters;
    Records options;
    if (!ReadRecords(info, 0, layout::Filter::kSize, false, &filters) ||
        !ReadRecords(info, 1, layout::Listing::kSize, true, &options)) {
      return {};
    }
    const auto list = [filters = std::move(filters), options = std::move(options)](conntrack::Client* client,
                                                                                   std::vector<Flow>* out) {
      return client->List(conntrack::LoadFilters(filters.data(), filters.size()),
                          conntrack::LoadListOptions(options.data()), out);
    };
    return StartListing<Flow>(info, list, conntrack::StoreFlows);
  }

  // An operation record names the flow. The second argument is whether its counters are set to zero.
  Napi::Value Get(const Napi::CallbackInfo& info) {
    Records record;
    if (!ReadRecords(info, 0, layout::Operation::kSize, true, &record)) return {};
    const bool zero_counters = info[1].ToBoolean();
    const auto get = [record = std::move(record), zero_counters](conntrack::Client* client,
                                                                 std::vector<Flow>* out) {
      const auto names = conntrack::LoadOperations(record.data(), record.size());
      return client->Get(names.front().flow, zero_counters, out);
    };
    return StartListing<Flow>(info, get, conntrack::StoreFlows);
  }

  Napi::Value Flush(const Napi::CallbackInfo& info) {
    return StartPlain(info, [](conntrack::Client* client) { return client->Flush(); });
  }

  // Starts `read(client, &value)`, and resolves to the records that `store(value)` makes of it.
  template <typename Value, typename Read, typename Store>
  Napi::Value StartReading(const Napi::CallbackInfo& info, Read read, Store store) {
    return Start<Records>(info, [read, store](conntrack::Client* client, Records* out) {
      Value value;
      Status status = (client->*read)(&value);
      if (status.ok()) *out = store(value);
      return status;
    });
  }

  Napi::Value GetStatistics(const Napi::CallbackInfo& info) {
    return StartReading<conntrack::Statistics>(info, &conntrack::Client::ReadStatistics,
                                               conntrack::StoreStatistics);
  }

  Napi::Value GetCapabilities(const Napi::CallbackInfo& info) {
    return StartReading<conntrack::Capabilities>(info, &conntrack::Client::ReadCapabilities,
                                                 conntrack::StoreCapabilities);
  }

  Napi::Value ListExpectations(const Napi::CallbackInfo& info) {
    return StartReading<std::vector<conntrack::Expectation>>(info, &conntrack::Client::ListExpectations,
                                                             conntrack::StoreExpectations);
  }

  // Settles with {deleted, failures, failed}: a number, failures by place, and the records of their flows.
  Napi::Value Delete(const Napi::CallbackInfo& info) {
    Records record;
    if (!ReadRecords(info, 0, layout::Filter::kSize, true, &record)) return {};
    return Start<Deletion>(info, [record = std::move(record)](conntrack::Client* client, Deletion* out) {
      return client->Delete(conntrack::LoadFilters(record.data(), record.size()).front(), out);
    });
  }
};

// The class ConntrackWatch of the addon.
class ConntrackWatch : public WatchBinding<ConntrackWatch, conntrack::Watch> {
 public:
  using WatchBinding::WatchBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "ConntrackWatch", {InstanceMethod<&ConntrackWatch::Select>("select")});
  }

 private:
  // A sum of EventKind, and filter records. Before open().
  Napi::Value Select(const Napi::CallbackInfo& info) {
    Records filters;
    if (!ReadRecords(info, 1, layout::Filter::kSize, false, &filters)) return {};
    const auto kinds = static_cast<uint8_t>(info[0].ToNumber().Uint32Value());
    if (client()) client()->Select(kinds, conntrack::LoadFilters(filters.data(), filters.size()));
    return {};
  }
};

}  // namespace

void InitConntrack(Napi::Object exports) {
  ConntrackClient::Init(exports);
  ConntrackWatch::Init(exports);
}

}  // namespace knp::binding
