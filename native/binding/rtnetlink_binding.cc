#include "binding/rtnetlink_binding.h"

#include <memory>
#include <string>

#include "binding/job.h"
#include "rtnetlink/client.h"
#include "rtnetlink/records.h"

namespace knp::binding {
namespace {

using netlink::Status;
using Records = std::vector<uint8_t>;
using Failures = std::vector<netlink::Failure>;

// The class RtnetlinkClient of the addon; src/kernel/addon.ts declares its methods.
class RtnetlinkClient : public Napi::ObjectWrap<RtnetlinkClient> {
 public:
  static Napi::Function Define(Napi::Env env) {
    return DefineClass(env, "RtnetlinkClient",
                       {
                           InstanceMethod<&RtnetlinkClient::Open>("open"),
                           InstanceMethod<&RtnetlinkClient::Apply>("apply"),
                           InstanceMethod<&RtnetlinkClient::ListLinks>("listLinks"),
                           InstanceMethod<&RtnetlinkClient::GetLink>("getLink"),
                           InstanceMethod<&RtnetlinkClient::ListAddresses>("listAddresses"),
                           InstanceMethod<&RtnetlinkClient::Close>("close"),
                       });
  }

  explicit RtnetlinkClient(const Napi::CallbackInfo& info)
      : Napi::ObjectWrap<RtnetlinkClient>(info), client_(std::make_shared<rtnetlink::Client>()) {}

 private:
  Napi::Value Open(const Napi::CallbackInfo& info) {
    std::string path;
    std::chrono::milliseconds timeout{};
    if (!ReadText(info, 0, &path) || !ReadMilliseconds(info, 1, &timeout)) return {};
    return StartOn<Records>(
        info.Env(), client_,
        [path, timeout](rtnetlink::Client* client, Records* /*out*/) { return client->Open(path, timeout); });
  }

  Napi::Value Apply(const Napi::CallbackInfo& info) {
    Records records;
    if (!ReadRecords(info, 0, rtnetlink::kOperationRecord, false, &records)) return {};
    return StartOn<Failures>(
        info.Env(), client_, [records = std::move(records)](rtnetlink::Client* client, Failures* out) {
          *out = client->Apply(rtnetlink::LoadOperations(records.data(), records.size()));
          return Status{};
        });
  }

  Napi::Value ListLinks(const Napi::CallbackInfo& info) {
    return StartOn<Records>(info.Env(), client_, [](rtnetlink::Client* client, Records* out) {
      std::vector<rtnetlink::Link> links;
      Status status = client->ListLinks(&links);
      if (status.ok()) *out = rtnetlink::StoreLinks(links);
      return status;
    });
  }

  Napi::Value GetLink(const Napi::CallbackInfo& info) {
    std::string name;
    if (!ReadText(info, 0, &name)) return {};
    return StartOn<Records>(info.Env(), client_, [name](rtnetlink::Client* client, Records* out) {
      std::vector<rtnetlink::Link> links(1);
      Status status = client->GetLink(name, &links.front());
      if (status.ok()) *out = rtnetlink::StoreLinks(links);
      return status;
    });
  }

  // An empty name means every link.
  Napi::Value ListAddresses(const Napi::CallbackInfo& info) {
    std::string link;
    if (!ReadText(info, 0, &link)) return {};
    return StartOn<Records>(info.Env(), client_, [link](rtnetlink::Client* client, Records* out) {
      std::vector<rtnetlink::NamedAddress> addresses;
      Status status = client->ListAddresses(link, &addresses);
      if (status.ok()) *out = rtnetlink::StoreAddresses(addresses);
      return status;
    });
  }

  void Close(const Napi::CallbackInfo& /*info*/) { client_.reset(); }

  std::shared_ptr<rtnetlink::Client> client_;
};

}  // namespace

void InitRtnetlink(Napi::Env env, Napi::Object exports) {
  exports.Set("RtnetlinkClient", RtnetlinkClient::Define(env));
}

}  // namespace knp::binding
