/* Converts a rule into the form of results, which do not depend on how it was found. */
#ifndef UNSEEN_RULE_RECORD_H
#define UNSEEN_RULE_RECORD_H

#include "gen/explain/explain.h"
#include "reports/result.h"

void rule_record(const struct rule *rule, struct result_rule *out);

#endif
