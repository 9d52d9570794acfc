#include "binding/conntrack_binding.h"

#include <memory>
#include <string>

#include "binding/job.h"
#include "conntrack/client.h"
#include "conntrack/records.h"

namespace knp::binding {

namespace {

using netlink::Status;
using Records = std::vector<uint8_t>;
using Failures = std::vector<netlink::Failure>;

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
class ConntrackClient : public Napi::ObjectWrap<ConntrackClient> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "ConntrackClient",
                       {
                           InstanceMethod<&ConntrackClient::Open>("open"),
                           InstanceMethod<&ConntrackClient::Apply>("apply"),
                           InstanceMethod<&ConntrackClient::List>("list"),
                           InstanceMethod<&ConntrackClient::Delete>("delete"),
                           InstanceMethod<&ConntrackClient::Close>("close"),
                       });
  }

  explicit ConntrackClient(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<ConntrackClient>(info), client_(std::make_shared<conntrack::Client>()) {}

 private:
  Napi::Value Open(const Napi::CallbackInfo& info) {
    std::string path;
    std::chrono::milliseconds timeout{};
    if (!ReadText(info, 0, &path) || !ReadMilliseconds(info, 1, &timeout)) return {};
    return StartOn<Records>(
        info.Env(), client_,
        [path, timeout](conntrack::Client* client, Records* /*out*/) { return client->Open(path, timeout); });
  }

  // Deletes flows: there is no other operation on one.
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, conntrack::kFlowRecord, false, &records)) return {};
    return StartOn<Failures>(
        info.Env(), client_, [records = std::move(records)](conntrack::Client* client, Failures* out) {
          *out = client->DeleteFlows(conntrack::LoadFlows(records.data(), records.size()));
          return Status{};
        });
  }

  // The second argument is whether a listing that was cut short is good as far as it went.
  Napi::Value List(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, conntrack::kFilterRecord, false, &records)) return {};
    const bool partial = info[1].ToBoolean();
    return StartOn<Records>(info.Env(), client_,
                            [records = std::move(records), partial](conntrack::Client* client, Records* out) {
                              const auto filters = conntrack::LoadFilters(records.data(), records.size());
                              std::vector<conntrack::Flow> flows;
                              Status status = client->List(filters, partial, &flows);
                              if (status.ok()) *out = conntrack::StoreFlows(flows);
                              return status;
                            });
  }

  // Settles with {deleted, failures, failed}: a number, failures by place, and the records of their flows.
  Napi::Value Delete(const Napi::CallbackInfo& info) {
    Records record;
    if (!ReadRecords(info, 0, conntrack::kFilterRecord, true, &record)) return {};
    return StartOn<Deletion>(
        info.Env(), client_, [record = std::move(record)](conntrack::Client* client, Deletion* out) {
          return client->Delete(conntrack::LoadFilters(record.data(), record.size()).front(), out);
        });
  }

  void Close(const Napi::CallbackInfo& /*info*/) { client_.reset(); }

  std::shared_ptr<conntrack::Client> client_;
};

}  // namespace

void InitConntrack(Napi::Env env, Napi::Object exports) {
  exports.Set("ConntrackClient", ConntrackClient::Define(env));
}

}  // namespace knp::binding
