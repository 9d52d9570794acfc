#include "binding/classes.h"
#include "binding/client_binding.h"
#include "ipset/client.h"
#include "ipset/records.h"

namespace knp::binding {
namespace {

using ipset::Client;
using ipset::SetState;

// The class IpsetClient of the addon; src/kernel/addon.ts declares its methods.
class IpsetClient : public ClientBinding<IpsetClient, Client> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "IpsetClient",
           {
               InstanceMethod<&IpsetClient::Apply>("apply"),
               InstanceMethod<&IpsetClient::List>("list"),
               InstanceMethod<&IpsetClient::Get>("get"),
           });
  }

 private:
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    return StartBatch(info, ipset::layout::Operation::kSize, [](Client* client, const Records& records) {
      return client->Apply(ipset::LoadOperations(records.data(), records.size()));
    });
  }

  Napi::Value List(const Napi::CallbackInfo& info) {
    const auto list = [](Client* client, std::vector<SetState>* out) { return client->List(out); };
    return StartListing<SetState>(info, list, ipset::StoreListing);
  }

  Napi::Value Get(const Napi::CallbackInfo& info) {
    std::string name;
    if (!ReadText(info, 0, &name)) return {};
    const auto get = [name](Client* client, std::vector<SetState>* out) {
      return client->Get(name, &out->emplace_back());
    };
    return StartListing<SetState>(info, get, ipset::StoreListing);
  }
};

}  // namespace

void InitIpset(Napi::Object exports) {
  IpsetClient::Init(exports);
}

}  // namespace knp::binding
