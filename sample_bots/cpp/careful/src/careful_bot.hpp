#pragma once

#include "allfours/v1/move.pb.h"
#include "allfours/v1/rule_set.pb.h"
#include "allfours/v1/turn.pb.h"

/// Sound play by rules of thumb: the move for any turn of any variant.
allfours::v1::Move careful_move(const allfours::v1::Turn& turn, const allfours::v1::RuleSet& rules);
