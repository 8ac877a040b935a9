/* The suite of batches: lists, result files, and the queue with a judge of its own. */
#include "suites.h"

Suite *batch_suite(void)
{
    Suite *suite = suite_create("batch");
    suite_add_tcase(suite, batch_list_case());
    suite_add_tcase(suite, batch_line_case());
    suite_add_tcase(suite, batch_queue_case());
    suite_add_tcase(suite, batch_lane_case());
    return suite;
}
