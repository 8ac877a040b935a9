/* Table of the branches of the candidate's code. */
#include "json_fields.h"

static const struct field branch_fields[] = {
    FIELD(struct result_branch, TEXT, "file", file, "base name"),
    FIELD(struct result_branch, COUNT, "line", line, NULL),
    FIELD(struct result_branch, TEXT, "text", text, "of this line"),
    FIELD(struct result_branch, TEXT, "outcome", outcome,
          "where it would lead, such as `to line 119`, `value 3`, `another value`, `where <=`"),
    FIELD_END,
};
static const struct record branch_record = {.size = sizeof(struct result_branch), .fields = branch_fields};

static const struct field branches_fields[] = {
    FIELD(struct result_branches, COUNT, "taken", taken, NULL),
    FIELD(struct result_branches, COUNT, "count", count, "outcomes of conditional jumps, values of switches"),
    FIELD(struct result_branches, COUNT, "called", called,
          "configurations on which the instrumented build was called: the cheapest"),
    FIELD(struct result_branches, COUNT, "configurations", configurations, "of both sets"),
    FIELD(struct result_branches, COUNT, "added", added,
          "of these, drawn for branches that no other configuration takes"),
    FIELD(struct result_branches, NUMBER, "seconds", seconds, NULL),
    FIELD(struct result_branches, TEXT, "note", note, "what is lacking"),
    FIELD(struct result_branches, LIST, "never", never, "branches that no call took, the first ones",
          .record = &branch_record, .count = offsetof(struct result_branches, nevers),
          .most = RESULT_BRANCHES, .limits = "at most 64 branches"),
    FIELD_END,
};
const struct record branches_record = {
    .about = "branches of the candidate's code, as an instrumented build takes them",
    .size = sizeof(struct result_branches),
    .optional = true,
    .fields = branches_fields};
