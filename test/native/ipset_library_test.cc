// Our declarations of libipset's interface against its own headers, which nothing but this test includes.
#include <libipset/data.h>
#include <libipset/errcode.h>
#include <libipset/session.h>
#include <libipset/types.h>
#include <sys/socket.h>

#include <cstddef>
#include <mutex>
#include <type_traits>

#include "check.h"
#include "ipset/library.h"

namespace knp::ipset {
namespace {

// Enums are passed as int.
static_assert(sizeof(enum ipset_opt) == sizeof(int) && sizeof(enum ipset_cmd) == sizeof(int));
static_assert(sizeof(enum ipset_envopt) == sizeof(int));

static_assert(static_cast<int>(Command::kCreate) == IPSET_CMD_CREATE);
static_assert(static_cast<int>(Command::kDestroy) == IPSET_CMD_DESTROY);
static_assert(static_cast<int>(Command::kFlush) == IPSET_CMD_FLUSH);
static_assert(static_cast<int>(Command::kRename) == IPSET_CMD_RENAME);
static_assert(static_cast<int>(Command::kSwap) == IPSET_CMD_SWAP);
static_assert(static_cast<int>(Command::kAdd) == IPSET_CMD_ADD);
static_assert(static_cast<int>(Command::kDelete) == IPSET_CMD_DEL);
static_assert(static_cast<int>(Command::kTest) == IPSET_CMD_TEST);
static_assert(kEnvironmentExist == IPSET_ENV_EXIST);
static_assert(kReportNotice == IPSET_NOTICE);

static_assert(offsetof(LibraryType, name) == offsetof(ipset_type, name));
static_assert(offsetof(LibraryType, revision) == offsetof(ipset_type, revision));
static_assert(offsetof(LibraryType, family) == offsetof(ipset_type, family));

// The signatures of libipset's have attributes for warnings about printf, which make no other types.
#pragma GCC diagnostic ignored "-Wignored-attributes"

// The signature that a function of libipset's has when its structs are ours and its enums are int.
template <typename T>
struct OursOf {
  using Type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <>
struct OursOf<ipset_session*> {
  using Type = LibrarySession*;
};
template <>
struct OursOf<const ipset_session*> {
  using Type = const LibrarySession*;
};
template <>
struct OursOf<ipset_data*> {
  using Type = LibraryData*;
};
template <>
struct OursOf<const ipset_data*> {
  using Type = const LibraryData*;
};
template <>
struct OursOf<const ipset_type*> {
  using Type = const LibraryType*;
};
template <>
struct OursOf<ipset_print_outfn> {
  using Type = PrintFunction;
};
template <typename T>
struct Signature;
template <typename Result, typename... Arguments>
struct Signature<Result (*)(Arguments...)> {
  using Type = typename OursOf<Result>::Type (*)(typename OursOf<Arguments>::Type...);
};

#define KNP_SAME(ours, theirs) \
  static_assert(std::is_same_v<decltype(LibraryFunctions::ours), typename Signature<decltype(&theirs)>::Type>)
KNP_SAME(load_types, ipset_load_types);
KNP_SAME(session_init, ipset_session_init);
KNP_SAME(session_fini, ipset_session_fini);
KNP_SAME(session_data, ipset_session_data);
KNP_SAME(session_report_msg, ipset_session_report_msg);
KNP_SAME(session_report_type, ipset_session_report_type);
KNP_SAME(session_report_reset, ipset_session_report_reset);
KNP_SAME(envopt_set, ipset_envopt_set);
KNP_SAME(envopt_unset, ipset_envopt_unset);
KNP_SAME(data_set, ipset_data_set);
KNP_SAME(data_get, ipset_data_get);
KNP_SAME(data_reset, ipset_data_reset);
KNP_SAME(data_sizeof, ipset_data_sizeof);
KNP_SAME(type_get, ipset_type_get);
KNP_SAME(cache_del, ipset_cache_del);
KNP_SAME(cmd, ipset_cmd);
KNP_SAME(commit, ipset_commit);
KNP_SAME(errcode, ipset_errcode);
#undef KNP_SAME

size_t (*installed_sizeof)(int option, uint8_t family) = nullptr;

// As libipset 7.15 reports it, which has no IPSET_OPT_BITMASK yet: later options are one lower.
size_t SizeofIn715(int option, uint8_t family) {
  return installed_sizeof(option < IPSET_OPT_BITMASK ? option : option + 1, family);
}

size_t SizeofInAnother(int /*option*/, uint8_t /*family*/) {
  return 4;
}

const Library* Load() {
  const std::lock_guard<std::mutex> lock(LibraryMutex());
  const Library* library = nullptr;
  CHECK(LoadLibrary(&library).ok());
  installed_sizeof = library->call.data_sizeof;
  return library;
}

}  // namespace

TEST(IpsetOptionsAreNumberedAsInTheHeaders) {
  const LibraryOptions& option = Load()->option;
  CHECK_EQUAL(option.set_name, IPSET_SETNAME);
  CHECK_EQUAL(option.type_name, IPSET_OPT_TYPENAME);
  CHECK_EQUAL(option.family, IPSET_OPT_FAMILY);
  CHECK_EQUAL(option.ip, IPSET_OPT_IP);
  CHECK_EQUAL(option.ip_to, IPSET_OPT_IP_TO);
  CHECK_EQUAL(option.cidr, IPSET_OPT_CIDR);
  CHECK_EQUAL(option.mark, IPSET_OPT_MARK);
  CHECK_EQUAL(option.port, IPSET_OPT_PORT);
  CHECK_EQUAL(option.port_to, IPSET_OPT_PORT_TO);
  CHECK_EQUAL(option.timeout, IPSET_OPT_TIMEOUT);
  CHECK_EQUAL(option.hash_size, IPSET_OPT_HASHSIZE);
  CHECK_EQUAL(option.max_elements, IPSET_OPT_MAXELEM);
  CHECK_EQUAL(option.mark_mask, IPSET_OPT_MARKMASK);
  CHECK_EQUAL(option.netmask, IPSET_OPT_NETMASK);
  CHECK_EQUAL(option.size, IPSET_OPT_SIZE);
  CHECK_EQUAL(option.bitmask, IPSET_OPT_BITMASK);
  CHECK_EQUAL(option.ether, IPSET_OPT_ETHER);
  CHECK_EQUAL(option.name, IPSET_OPT_NAME);
  CHECK_EQUAL(option.name_ref, IPSET_OPT_NAMEREF);
  CHECK_EQUAL(option.ip2, IPSET_OPT_IP2);
  CHECK_EQUAL(option.cidr2, IPSET_OPT_CIDR2);
  CHECK_EQUAL(option.ip2_to, IPSET_OPT_IP2_TO);
  CHECK_EQUAL(option.protocol, IPSET_OPT_PROTO);
  CHECK_EQUAL(option.iface, IPSET_OPT_IFACE);
  CHECK_EQUAL(option.set_name2, IPSET_OPT_SETNAME2);
  CHECK_EQUAL(option.packets, IPSET_OPT_PACKETS);
  CHECK_EQUAL(option.bytes, IPSET_OPT_BYTES);
  CHECK_EQUAL(option.entry_comment, IPSET_OPT_ADT_COMMENT);
  CHECK_EQUAL(option.skb_mark, IPSET_OPT_SKBMARK);
  CHECK_EQUAL(option.skb_prio, IPSET_OPT_SKBPRIO);
  CHECK_EQUAL(option.skb_queue, IPSET_OPT_SKBQUEUE);
  CHECK_EQUAL(option.bucket_size, IPSET_OPT_BUCKETSIZE);
  CHECK_EQUAL(option.initval, IPSET_OPT_INITVAL);
  CHECK_EQUAL(option.cadt_flags, IPSET_OPT_CADT_FLAGS);
  CHECK_EQUAL(option.type, IPSET_OPT_TYPE);
}

TEST(IpsetOptionsOfOlderLibrariesAreRecognised) {
  Load();
  LibraryOptions option;
  CHECK(FindOptions(SizeofIn715, &option));
  CHECK_EQUAL(option.max_elements, 13);
  CHECK_EQUAL(option.ip2, 26);
  CHECK_EQUAL(option.cidr2, 27);
  CHECK_EQUAL(option.protocol, 29);
  CHECK_EQUAL(option.set_name2, 31);
  CHECK_EQUAL(option.type, 51);
  CHECK_EQUAL(option.bitmask, 0);
  CHECK_EQUAL(option.ether, 23);
  CHECK_EQUAL(option.initval, 47);
  CHECK_EQUAL(option.cadt_flags, 49);
  CHECK(!FindOptions(SizeofInAnother, &option));
}

}  // namespace knp::ipset
