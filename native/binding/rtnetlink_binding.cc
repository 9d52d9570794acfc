#include "binding/classes.h"
#include "binding/client_binding.h"
#include "binding/watch_binding.h"
#include "rtnetlink/client.h"
#include "rtnetlink/records.h"
#include "rtnetlink/watch.h"

namespace knp::binding {
namespace {

using rtnetlink::Client;
using rtnetlink::Link;
using rtnetlink::NamedAddress;

// The class RtnetlinkClient of the addon; src/kernel/addon.ts declares its methods.
class RtnetlinkClient : public ClientBinding<RtnetlinkClient, Client> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "RtnetlinkClient",
           {
               InstanceMethod<&RtnetlinkClient::Apply>("apply"),
               InstanceMethod<&RtnetlinkClient::ListLinks>("listLinks"),
               InstanceMethod<&RtnetlinkClient::GetLink>("getLink"),
               InstanceMethod<&RtnetlinkClient::ListAddresses>("listAddresses"),
           });
  }

 private:
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    return StartBatch(info, rtnetlink::layout::Operation::kSize, [](Client* client, const Records& records) {
      return client->Apply(rtnetlink::LoadOperations(records.data(), records.size()));
    });
  }

  Napi::Value ListLinks(const Napi::CallbackInfo& info) {
    const auto list = [](Client* client, std::vector<Link>* out) { return client->ListLinks(out); };
    return StartListing<Link>(info, list, rtnetlink::StoreLinks);
  }

  Napi::Value GetLink(const Napi::CallbackInfo& info) {
    std::string name;
    if (!ReadText(info, 0, &name)) return {};
    const auto get = [name](Client* client, std::vector<Link>* out) {
      return client->GetLink(name, &out->emplace_back());
    };
    return StartListing<Link>(info, get, rtnetlink::StoreLinks);
  }

  // An empty name means every link.
  Napi::Value ListAddresses(const Napi::CallbackInfo& info) {
    std::string link;
    if (!ReadText(info, 0, &link)) return {};
    const auto list = [link](Client* client, std::vector<NamedAddress>* out) {
      return client->ListAddresses(link, out);
    };
    return StartListing<NamedAddress>(info, list, rtnetlink::StoreAddresses);
  }
};

// The class RtnetlinkWatch of the addon.
class RtnetlinkWatch : public WatchBinding<RtnetlinkWatch, rtnetlink::Watch> {
 public:
  using WatchBinding::WatchBinding;

  static void Init(Napi::Object exports) { Export(exports, "RtnetlinkWatch"); }
};

}  // namespace

void InitRtnetlink(Napi::Object exports) {
  RtnetlinkClient::Init(exports);
  RtnetlinkWatch::Init(exports);
}

}  // namespace knp::binding
