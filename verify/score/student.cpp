/* C++ only for Boost.Math; everything above student.h is C. No exception leaves it: arguments out of range
 * give NaN. */
#include <boost/math/distributions/students_t.hpp>

#include "student.h"

namespace
{
using namespace boost::math::policies;
typedef policy<domain_error<ignore_error>, pole_error<ignore_error>, overflow_error<ignore_error>,
               underflow_error<ignore_error>, denorm_error<ignore_error>, evaluation_error<ignore_error>,
               rounding_error<ignore_error>, indeterminate_result_error<ignore_error>, promote_double<false>>
    quiet;
} // namespace

extern "C" double student_quantile(double df, double tail)
{
    const boost::math::students_t_distribution<double, quiet> student(df);
    return quantile(complement(student, tail));
}

extern "C" double student_tail(double df, double t)
{
    const boost::math::students_t_distribution<double, quiet> student(df);
    return cdf(complement(student, t));
}
