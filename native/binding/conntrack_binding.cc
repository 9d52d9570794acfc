#include "binding/classes.h"
#include "binding/client_binding.h"
#include "conntrack/client.h"
#include "conntrack/records.h"

namespace knp::binding {

namespace {

using conntrack::Client;
using conntrack::Flow;
using netlink::Status;

// A type of this namespace, in which Job then looks for ToValue().
struct Deletion : conntrack::Deletion {};

Napi::Value ToValue(Napi::Env env, const Deletion& deletion) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("deleted", deletion.deleted);
  object.Set("failures", binding::ToValue(env, deletion.failures));
  object.Set("failed", binding::ToValue(env, conntrack::StoreFlows(deletion.failed)));
  return object;
}

// The class ConntrackClient of the addon; src/kernel/addon.ts declares its methods.
class ConntrackClient : public ClientBinding<ConntrackClient, Client> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "ConntrackClient",
           {
               InstanceMethod<&ConntrackClient::Apply>("apply"),
               InstanceMethod<&ConntrackClient::List>("list"),
               InstanceMethod<&ConntrackClient::Delete>("delete"),
           });
  }

 private:
  // Deletes flows: there is no other operation on one.
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    return StartBatch(info, conntrack::layout::Flow::kSize, [](Client* client, const Records& records) {
      return client->DeleteFlows(conntrack::LoadFlows(records.data(), records.size()));
    });
  }

  // The second argument is whether a listing that was cut short resolves to the flows read so far.
  Napi::Value List(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, conntrack::layout::Filter::kSize, false, &records)) return {};
    const bool partial = info[1].ToBoolean();
    const auto list = [records = std::move(records), partial](Client* client, std::vector<Flow>* out) {
      return client->List(conntrack::LoadFilters(records.data(), records.size()), partial, out);
    };
    return StartListing<Flow>(info, list, conntrack::StoreFlows);
  }

  // Settles with {deleted, failures, failed}: a number, failures by place, and the records of their flows.
  Napi::Value Delete(const Napi::CallbackInfo& info) {
    Records record;
    if (!ReadRecords(info, 0, conntrack::layout::Filter::kSize, true, &record)) return {};
    return Start<Deletion>(info, [record = std::move(record)](Client* client, Deletion* out) {
      return client->Delete(conntrack::LoadFilters(record.data(), record.size()).front(), out);
    });
  }
};

}  // namespace

void InitConntrack(Napi::Object exports) {
  ConntrackClient::Init(exports);
}

}  // namespace knp::binding
