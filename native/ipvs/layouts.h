// Written by `npm run task -- layouts` from src/kernel/ipvs/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::ipvs {

enum class Verb : uint8_t {
  kAddService = 1,
  kUpdateService = 2,
  kDeleteService = 3,
  kAddRealServer = 5,
  kUpdateRealServer = 6,
  kDeleteRealServer = 7,
  kStartDaemon = 9,
  kStopDaemon = 10,
  kSetTimeouts = 12,
  kZero = 16,
  kFlush = 17,
};

namespace layout {

struct Counters {
  static constexpr size_t kSize = 40;
  static constexpr records::U64 kConnections{0};
  static constexpr records::U64 kInPackets{8};
  static constexpr records::U64 kOutPackets{16};
  static constexpr records::U64 kInBytes{24};
  static constexpr records::U64 kOutBytes{32};
};

struct Daemon {
  static constexpr size_t kSize = 46;
  static constexpr records::U32 kState{0};
  static constexpr records::U32 kSyncId{4};
  static constexpr records::Text kInterface{8, 16};
  static constexpr records::U16 kMaxLength{24};
  static constexpr records::U16 kPort{26};
  static constexpr records::U8 kTtl{28};
  static constexpr records::U8 kFamily{29};
  static constexpr records::Address kGroup{30};
};

struct KernelIpvs {
  static constexpr size_t kSize = 8;
  static constexpr records::U32 kVersion{0};
  static constexpr records::U32 kConnectionTableSize{4};
};

struct ListedServer {
  static constexpr size_t kSize = 136;
  static constexpr records::Nested kServer{0};
  static constexpr records::U32 kActiveConnections{40};
  static constexpr records::U32 kInactiveConnections{44};
  static constexpr records::U32 kPersistentConnections{48};
  static constexpr records::Nested kCounters{56};
  static constexpr records::Nested kRates{96};
};

struct ListedService {
  static constexpr size_t kSize = 156;
  static constexpr records::Nested kService{0};
  static constexpr records::Nested kCounters{76};
  static constexpr records::Nested kRates{116};
};

struct Operation {
  static constexpr size_t kSize = 130;
  static constexpr records::U8 kVerb{0};
  static constexpr records::Nested kService{8};
  static constexpr records::Nested kArgument{84};
};

struct Server {
  static constexpr size_t kSize = 40;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kForwarding{1};
  static constexpr records::U16 kPort{2};
  static constexpr records::U32 kWeight{4};
  static constexpr records::U32 kUpperThreshold{8};
  static constexpr records::U32 kLowerThreshold{12};
  static constexpr records::U8 kTunnelType{16};
  static constexpr records::U16 kTunnelPort{18};
  static constexpr records::U16 kTunnelFlags{20};
  static constexpr records::Address kAddress{24};
};

struct Service {
  static constexpr size_t kSize = 76;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U16 kProtocol{2};
  static constexpr records::U16 kPort{4};
  static constexpr records::U32 kFirewallMark{8};
  static constexpr records::Address kAddress{12};
  static constexpr records::U32 kFlags{28};
  static constexpr records::U32 kTimeout{32};
  static constexpr records::U8 kNetmask{36};
  static constexpr records::U32 kRealServers{40};
  static constexpr records::Text kScheduler{44, 16};
  static constexpr records::Text kPersistenceEngine{60, 16};
};

struct Timeouts {
  static constexpr size_t kSize = 12;
  static constexpr records::U32 kTcp{0};
  static constexpr records::U32 kTcpFin{4};
  static constexpr records::U32 kUdp{8};
};

}  // namespace layout

}  // namespace knp::ipvs
