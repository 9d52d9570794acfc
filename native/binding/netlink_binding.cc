#include <memory>
#include <utility>

#include "binding/classes.h"
#include "binding/client_binding.h"
#include "binding/watch_binding.h"
#include "netlink/client.h"
#include "netlink/setting.h"
#include "netlink/transaction.h"

namespace knp::binding {
namespace {

using netlink::MessageWatch;
using netlink::Status;

// A type of this namespace, in which Job then looks for ToValue().
struct Portion : netlink::Portion {};

Napi::Value ToValue(Napi::Env env, Portion portion) {
  Napi::Object object = Napi::Object::New(env);
  object.Set("messages", binding::ToValue(env, std::move(portion.messages)));
  object.Set("restarted", portion.restarted);
  object.Set("ended", portion.ended);
  return object;
}

// Messages begin at multiples of 4 bytes.
constexpr size_t kAlignment = 4;

// False after having thrown a TypeError.
bool ToNumber(Napi::Env env, const Napi::Value& value, const char* name, uint32_t* out) {
  if (!value.IsNumber()) {
    Napi::TypeError::New(env, std::string(name) + " must be a number").ThrowAsJavaScriptException();
    return false;
  }
  *out = value.As<Napi::Number>().Uint32Value();
  return true;
}

bool ReadGroups(const Napi::CallbackInfo& info, std::vector<uint32_t>* out) {
  if (!info[1].IsArray()) {
    Napi::TypeError::New(info.Env(), "groups must be an array").ThrowAsJavaScriptException();
    return false;
  }
  const auto groups = info[1].As<Napi::Array>();
  for (uint32_t i = 0; i < groups.Length(); i++) {
    if (!ToNumber(info.Env(), groups.Get(i), "a group", &out->emplace_back())) return false;
  }
  return true;
}

// The class NetlinkClient of the addon; src/kernel/shared/addon.ts declares its methods.
class NetlinkClient : public ClientBinding<NetlinkClient, netlink::Client> {
 public:
  // new NetlinkClient(protocol, whether the kernel checks requests strictly)
  explicit NetlinkClient(const Napi::CallbackInfo& info) : ClientBinding(info) {
    uint32_t protocol = 0;
    if (ToNumber(info.Env(), info[0], "protocol", &protocol)) {
      client()->SetProtocol(static_cast<int>(protocol), info[1].ToBoolean());
    }
  }

  static void Init(Napi::Object exports) {
    Export(exports, "NetlinkClient",
           {
               InstanceMethod<&NetlinkClient::Apply>("apply"),
               InstanceMethod<&NetlinkClient::Query>("query"),
               InstanceMethod<&NetlinkClient::BeginListing>("beginListing"),
               InstanceMethod<&NetlinkClient::ReadListing>("readListing"),
               InstanceMethod<&NetlinkClient::Gather>("gather"),
               InstanceMethod<&NetlinkClient::Drop>("drop"),
               InstanceMethod<&NetlinkClient::Transact>("transact"),
           });
  }

 private:
  Napi::Value Apply(const Napi::CallbackInfo& info) {
    return StartBatch(info, kAlignment, [](netlink::Client* client, const Records& messages) {
      return client->Send(messages);
    });
  }

  Napi::Value Query(const Napi::CallbackInfo& info) {
    Records message;
    if (!ReadRecords(info, 0, kAlignment, false, &message)) return {};
    return Start<Records>(info, [message = std::move(message)](netlink::Client* client, Records* out) {
      return client->Query(message, out);
    });
  }

  Napi::Value BeginListing(const Napi::CallbackInfo& info) {
    Records message;
    if (!ReadRecords(info, 0, kAlignment, false, &message)) return {};
    return Start<Portion>(info, [message = std::move(message)](netlink::Client* client, Portion* out) {
      return client->BeginListing(message, out);
    });
  }

  Napi::Value ReadListing(const Napi::CallbackInfo& info) {
    return Start<Portion>(info,
                          [](netlink::Client* client, Portion* out) { return client->ReadListing(out); });
  }

  Napi::Value Gather(const Napi::CallbackInfo& info) {
    Records messages;
    if (ReadRecords(info, 0, kAlignment, false, &messages)) gathered_.push_back(std::move(messages));
    return {};
  }

  Napi::Value Drop(const Napi::CallbackInfo& /*info*/) {
    gathered_ = {};
    return {};
  }

  Napi::Value Transact(const Napi::CallbackInfo& info) {
    // Shared, because the work is a std::function, which would copy it.
    auto pieces = std::make_shared<netlink::Pieces>(std::exchange(gathered_, {}));
    Records messages;
    if (!ReadRecords(info, 0, kAlignment, false, &messages)) return {};
    pieces->push_back(std::move(messages));
    return Start<Records>(info, [pieces](netlink::Client* client, Records* out) {
      netlink::TransactionAnswer answer;
      Status status = client->Transact(std::move(*pieces), &answer);
      if (status.ok()) *out = netlink::StoreAnswer(answer);
      return status;
    });
  }

  // The first messages of a transaction: a long one is copied piece by piece, so that the event loop can
  // turn.
  netlink::Pieces gathered_;
};

// The class NetlinkWatch of the addon.
class NetlinkWatch : public WatchBinding<NetlinkWatch, MessageWatch> {
 public:
  // new NetlinkWatch(protocol, groups)
  explicit NetlinkWatch(const Napi::CallbackInfo& info) : WatchBinding(info) {
    uint32_t protocol = 0;
    std::vector<uint32_t> groups;
    if (ToNumber(info.Env(), info[0], "protocol", &protocol) && ReadGroups(info, &groups)) {
      client()->SetGroups(static_cast<int>(protocol), std::move(groups));
    }
  }

  static void Init(Napi::Object exports) { Export(exports, "NetlinkWatch"); }
};

// readSetting(namespace, path)
Napi::Value ReadSetting(const Napi::CallbackInfo& info) {
  NamespaceArgument argument;
  std::string path;
  if (!argument.Read(info, 0) || !ReadText(info, 1, &path)) return {};
  return Job<Records>::Start(info.Env(), [argument, path](Records* out) -> Status {
    netlink::SharedNamespace network_namespace;
    Status status = argument.Open(&network_namespace);
    return status.ok() ? netlink::ReadSetting(*network_namespace, path, out) : status;
  });
}

}  // namespace

void InitNetlink(Napi::Object exports) {
  NetlinkClient::Init(exports);
  NetlinkWatch::Init(exports);
  exports.Set("readSetting", Napi::Function::New<ReadSetting>(exports.Env(), "readSetting"));
}

}  // namespace knp::binding
