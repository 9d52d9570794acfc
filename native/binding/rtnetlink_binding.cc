#include <atomic>
#include <memory>
#include <utility>

#include "binding/classes.h"
#include "binding/client_binding.h"
#include "binding/thread_job.h"
#include "binding/watch_binding.h"
#include "netlink/named_namespace.h"
#include "rtnetlink/client.h"
#include "rtnetlink/records.h"
#include "rtnetlink/watch.h"

namespace knp::binding {
namespace {

using rtnetlink::Encoded;

// The class RtnetlinkClient of the addon; src/kernel/shared/addon.ts declares its methods.
class RtnetlinkClient : public ClientBinding<RtnetlinkClient, rtnetlink::Client> {
 public:
  using ClientBinding::ClientBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "RtnetlinkClient",
           {
               InstanceMethod<&RtnetlinkClient::Apply>("apply"),
               InstanceMethod<&RtnetlinkClient::Read>("read"),
           });
  }

 private:
  // apply(operation records, the messages that they refer to)
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    Records messages;
    if (!ReadRecords(info, 1, 1, false, &messages)) return {};
    const auto load = [messages = std::move(messages)](const Records& records, std::vector<Encoded>* out) {
      *out = rtnetlink::LoadOperations(records.data(), records.size(), messages);
      return netlink::Status{};
    };
    return ApplyBatch<std::vector<Encoded>>(info, rtnetlink::layout::Operation::kSize, load);
  }

  // read(message)
  Napi::Value Read(const Napi::CallbackInfo& info) {
    Records bytes;
    if (!ReadRecords(info, 0, 1, false, &bytes)) return {};
    Encoded message;
    if (!rtnetlink::LoadMessage(bytes.data(), bytes.size(), &message)) {
      Napi::TypeError::New(info.Env(), "argument 1 must be a whole message").ThrowAsJavaScriptException();
      return {};
    }
    return Start<Records>(info, [message = std::move(message)](rtnetlink::Client* client, Records* out) {
      return client->Read(message, out);
    });
  }
};

// The class RtnetlinkWatch of the addon.
class RtnetlinkWatch : public WatchBinding<RtnetlinkWatch, rtnetlink::Watch> {
 public:
  using WatchBinding::WatchBinding;

  static void Init(Napi::Object exports) {
    Export(exports, "RtnetlinkWatch", {InstanceMethod<&RtnetlinkWatch::Select>("select")});
  }

 private:
  // select(kinds)
  Napi::Value Select(const Napi::CallbackInfo& info) {
    Records kinds;
    if (!ReadRecords(info, 0, 1, false, &kinds) || !client()) return {};
    rtnetlink::EventKinds wanted;
    for (const uint8_t kind : kinds) wanted.insert(static_cast<rtnetlink::EventKind>(kind));
    client()->Select(std::move(wanted));
    return {};
  }
};

// addNamespace(folder, name)
Napi::Value AddNamespace(const Napi::CallbackInfo& info) {
  std::string folder;
  std::string name;
  if (!ReadText(info, 0, &folder) || !ReadText(info, 1, &name)) return {};
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  return ThreadJob<Nothing>::Start(
      info.Env(),
      [folder, name, cancelled](Nothing* /*none*/) {
        return netlink::AddNamedNamespace(folder, name, *cancelled);
      },
      [cancelled] { *cancelled = true; });
}

// deleteNamespace(folder, name)
Napi::Value DeleteNamespace(const Napi::CallbackInfo& info) {
  std::string folder;
  std::string name;
  if (!ReadText(info, 0, &folder) || !ReadText(info, 1, &name)) return {};
  return ThreadJob<Nothing>::Start(
      info.Env(), [folder, name](Nothing* /*none*/) { return netlink::DeleteNamedNamespace(folder, name); },
      [] {});
}

}  // namespace

void InitRtnetlink(Napi::Object exports) {
  exports.Set("addNamespace", Napi::Function::New<AddNamespace>(exports.Env(), "addNamespace"));
  exports.Set("deleteNamespace", Napi::Function::New<DeleteNamespace>(exports.Env(), "deleteNamespace"));
  RtnetlinkClient::Init(exports);
  RtnetlinkWatch::Init(exports);
}

}  // namespace knp::binding
