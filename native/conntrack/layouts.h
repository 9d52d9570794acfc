// Written by `npm run task -- layouts` from src/kernel/conntrack/layouts.ts, which explains each name.
#pragma once

#include "records/fields.h"

namespace knp::conntrack {

enum Condition : uint8_t {
  kOnMark = 1,
  kOnStatus = 2,
  kOnZone = 4,
  kOnReplyZone = 8,
  kOnLabels = 16,
};

enum class FlowEvent : uint8_t {
  kNone = 0,
  kNew = 1,
  kUpdate = 2,
  kDestroy = 3,
};

enum EventKind : uint8_t {
  kOnNew = 1,
  kOnUpdate = 2,
  kOnDestroy = 4,
};

enum FlowField : uint8_t {
  kHasState = 1,
  kHasCounters = 2,
  kHasStart = 4,
  kHasStop = 8,
  kHasLabels = 16,
  kHasMaster = 32,
  kHasTags = 64,
  kHasDetails = 128,
};

enum GivenField : uint8_t {
  kGivesTimeout = 1,
  kGivesStatus = 2,
  kGivesMark = 4,
  kGivesLabels = 8,
  kGivesHelper = 16,
  kGivesState = 32,
  kTranslatesSource = 64,
  kTranslatesDestination = 128,
};

enum class SettingState : uint8_t {
  kOff = 0,
  kOn = 1,
  kUnknown = 2,
};

enum class Table : uint8_t {
  kConntrack = 0,
  kDying = 1,
  kUnconfirmed = 2,
};

enum TupleField : uint8_t {
  kSource = 1,
  kDestination = 2,
  kSourcePort = 4,
  kDestinationPort = 8,
  kIcmpType = 16,
  kIcmpCode = 32,
};

enum class Verb : uint8_t {
  kAddFlow = 1,
  kUpdateFlow = 2,
  kDeleteFlow = 3,
};

namespace layout {

struct Capabilities {
  static constexpr size_t kSize = 5;
  static constexpr records::U8 kAccounting{0};
  static constexpr records::U8 kTimestamps{1};
  static constexpr records::U8 kEvents{2};
  static constexpr records::U8 kZones{3};
  static constexpr records::U8 kDeleteByFilter{4};
};

struct Cpu {
  static constexpr size_t kSize = 42;
  static constexpr records::U16 kCpu{0};
  static constexpr records::U32 kFound{2};
  static constexpr records::U32 kInvalid{6};
  static constexpr records::U32 kInsert{10};
  static constexpr records::U32 kInsertFailed{14};
  static constexpr records::U32 kDrop{18};
  static constexpr records::U32 kEarlyDrop{22};
  static constexpr records::U32 kError{26};
  static constexpr records::U32 kSearchRestart{30};
  static constexpr records::U32 kClashResolve{34};
  static constexpr records::U32 kChainTooLong{38};
};

struct Details {
  static constexpr size_t kSize = 127;
  static constexpr records::U64 kOriginalPackets{0};
  static constexpr records::U64 kOriginalBytes{8};
  static constexpr records::U64 kReplyPackets{16};
  static constexpr records::U64 kReplyBytes{24};
  static constexpr records::U64 kStart{32};
  static constexpr records::U64 kStop{40};
  static constexpr records::Address kLabels{48};
  static constexpr records::U32 kOriginalTag{64};
  static constexpr records::U32 kReplyTag{68};
  static constexpr records::Text kHelper{72, 16};
  static constexpr records::U8 kMasterProtocol{88};
  static constexpr records::Nested kMaster{89};
  static constexpr records::U16 kSecctxLength{125};
};

struct Expectation {
  static constexpr size_t kSize = 145;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kProtocol{1};
  static constexpr records::U8 kMasterProtocol{2};
  static constexpr records::U16 kZone{3};
  static constexpr records::U32 kId{5};
  static constexpr records::U32 kTimeout{9};
  static constexpr records::U32 kFlags{13};
  static constexpr records::U32 kPolicy{17};
  static constexpr records::Nested kTuple{21};
  static constexpr records::Nested kMask{57};
  static constexpr records::Nested kMaster{93};
  static constexpr records::Text kHelper{129, 16};
};

struct Filter {
  static constexpr size_t kSize = 117;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kProtocol{1};
  static constexpr records::U8 kOriginalFields{2};
  static constexpr records::U8 kReplyFields{3};
  static constexpr records::U8 kOriginalSourcePrefix{4};
  static constexpr records::U8 kOriginalDestinationPrefix{5};
  static constexpr records::U8 kReplySourcePrefix{6};
  static constexpr records::U8 kReplyDestinationPrefix{7};
  static constexpr records::U8 kConditions{8};
  static constexpr records::U16 kZone{9};
  static constexpr records::U16 kReplyZone{11};
  static constexpr records::U32 kMark{13};
  static constexpr records::U32 kMarkMask{17};
  static constexpr records::U32 kStatus{21};
  static constexpr records::U32 kStatusMask{25};
  static constexpr records::Address kLabels{29};
  static constexpr records::Nested kOriginal{45};
  static constexpr records::Nested kReply{81};
};

struct Flow {
  static constexpr size_t kSize = 101;
  static constexpr records::U8 kFamily{0};
  static constexpr records::U8 kProtocol{1};
  static constexpr records::U8 kFields{2};
  static constexpr records::U8 kState{3};
  static constexpr records::U16 kZone{4};
  static constexpr records::U16 kReplyZone{6};
  static constexpr records::U32 kId{8};
  static constexpr records::U32 kStatus{12};
  static constexpr records::U32 kMark{16};
  static constexpr records::U32 kTimeout{20};
  static constexpr records::U32 kUse{24};
  static constexpr records::U8 kEvent{28};
  static constexpr records::Nested kOriginal{29};
  static constexpr records::Nested kReply{65};
};

struct Listing {
  static constexpr size_t kSize = 3;
  static constexpr records::U8 kPartial{0};
  static constexpr records::U8 kTable{1};
  static constexpr records::U8 kZeroCounters{2};
};

struct Operation {
  static constexpr size_t kSize = 322;
  static constexpr records::U8 kVerb{0};
  static constexpr records::U8 kGiven{1};
  static constexpr records::U32 kMarkMask{2};
  static constexpr records::Address kLabelsMask{6};
  static constexpr records::Nested kFlow{22};
  static constexpr records::Nested kDetails{123};
  static constexpr records::Nested kSource{250};
  static constexpr records::Nested kDestination{286};
};

struct Statistics {
  static constexpr size_t kSize = 8;
  static constexpr records::U32 kEntries{0};
  static constexpr records::U32 kMaxEntries{4};
};

struct Translation {
  static constexpr size_t kSize = 36;
  static constexpr records::Address kFirst{0};
  static constexpr records::Address kLast{16};
  static constexpr records::U16 kFirstPort{32};
  static constexpr records::U16 kLastPort{34};
};

struct Tuple {
  static constexpr size_t kSize = 36;
  static constexpr records::Address kSource{0};
  static constexpr records::Address kDestination{16};
  static constexpr records::U16 kSourcePort{32};
  static constexpr records::U16 kDestinationPort{34};
};

}  // namespace layout

}  // namespace knp::conntrack
