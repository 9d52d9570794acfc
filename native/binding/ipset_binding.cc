#include "binding/ipset_binding.h"

#include <memory>
#include <string>

#include "binding/job.h"
#include "ipset/client.h"
#include "ipset/records.h"

namespace knp::binding {
namespace {

using netlink::Status;
using Records = std::vector<uint8_t>;
using Failures = std::vector<netlink::Failure>;

// The class IpsetClient of the addon; src/kernel/addon.ts declares its methods.
class IpsetClient : public Napi::ObjectWrap<IpsetClient> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "IpsetClient",
                       {
                           InstanceMethod<&IpsetClient::Open>("open"),
                           InstanceMethod<&IpsetClient::Apply>("apply"),
                           InstanceMethod<&IpsetClient::List>("list"),
                           InstanceMethod<&IpsetClient::Get>("get"),
                           InstanceMethod<&IpsetClient::Close>("close"),
                       });
  }

  explicit IpsetClient(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<IpsetClient>(info), client_(std::make_shared<ipset::Client>()) {}

 private:
  Napi::Value Open(const Napi::CallbackInfo& info) {
    std::string path;
    std::chrono::milliseconds timeout{};
    if (!ReadText(info, 0, &path) || !ReadMilliseconds(info, 1, &timeout)) return {};
    return StartOn<Records>(info.Env(), client_, [path, timeout](ipset::Client* client, Records* /*out*/) {
      return client->Open(path, timeout);
    });
  }

  Napi::Value Apply(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, ipset::kOperationRecord, false, &records)) return {};
    return StartOn<Failures>(info.Env(), client_,
                             [records = std::move(records)](ipset::Client* client, Failures* out) {
                               *out = client->Apply(ipset::LoadOperations(records.data(), records.size()));
                               return Status{};
                             });
  }

  Napi::Value List(const Napi::CallbackInfo& info) {
    return StartOn<Records>(info.Env(), client_, [](ipset::Client* client, Records* out) {
      std::vector<ipset::SetState> sets;
      Status status = client->List(&sets);
      if (status.ok()) *out = ipset::StoreListing(sets);
      return status;
    });
  }

  Napi::Value Get(const Napi::CallbackInfo& info) {
    std::string name;
    if (!ReadText(info, 0, &name)) return {};
    return StartOn<Records>(info.Env(), client_, [name](ipset::Client* client, Records* out) {
      std::vector<ipset::SetState> sets(1);
      Status status = client->Get(name, &sets.front());
      if (status.ok()) *out = ipset::StoreListing(sets);
      return status;
    });
  }

  void Close(const Napi::CallbackInfo& /*info*/) { client_.reset(); }

  std::shared_ptr<ipset::Client> client_;
};

}  // namespace

void InitIpset(Napi::Env env, Napi::Object exports) {
  exports.Set("IpsetClient", IpsetClient::Define(env));
}

}  // namespace knp::binding
